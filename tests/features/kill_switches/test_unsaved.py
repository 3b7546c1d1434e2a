"""What cannot be stored is turned off all the same, and stored as soon as that can be."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.execution.made import virtually
from tests.features.kill_switches.test_service import look, pay

from pegboard import ToolRegistry
from pegboard.concurrency.closable_lock import ClosableLock, storage_closed_error
from pegboard.core.ports.kill_switch_store import Switch, SwitchKind
from pegboard.core.principal import LOCAL
from pegboard.errors import PegboardError, StoreUnavailable
from pegboard.features.kill_switches import KillSwitches
from pegboard.features.kill_switches.schemas import switch_to_dict
from pegboard.storage.memory.kill_switches import MemorySwitches
from pegboard.testing import FakeClock


class Away(MemorySwitches):
    """A store that can be read, and for now not written."""

    def __init__(self) -> None:
        super().__init__(ClosableLock())
        self.error: PegboardError | None = StoreUnavailable("locked")
        self.tries = 0

    async def put(self, switch: Switch) -> None:
        self.tries += 1
        if self.error is not None:
            raise self.error
        await super().put(switch)

    async def remove(self, kind: SwitchKind, name: str) -> bool:
        if self.error is not None:
            raise self.error
        return await super().remove(kind, name)


def insisting(store: Away) -> tuple[ToolRegistry, KillSwitches]:
    registry = ToolRegistry([pay, look])
    return registry, KillSwitches(registry, store, apply_unsaved=True)


async def is_off(registry: ToolRegistry) -> bool:
    return "denied" in str((await registry.call("pay", {"amount": 1})).error)


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 - a store sets no event
        await asyncio.sleep(0.01)


@virtually
async def test_what_cannot_be_stored_is_off_here_and_stored_once_that_can_be(
    clock: FakeClock,
) -> None:
    registry, switches = insisting(store := Away())
    thrown = await switches.off("tool", "pay", reason="it pays twice", principal=LOCAL)
    other = await switches.off("writes", principal=LOCAL)
    listed = await switches.list(principal=LOCAL)
    await switches.load()
    held = await is_off(registry)
    store.error = None
    await until(lambda: store.tries == 4)
    await asyncio.sleep(0)
    later = await switches.list(principal=LOCAL)

    assert (thrown.is_stored, thrown.tools, other.is_stored) == (False, 1, False)
    assert switch_to_dict(thrown)["at"] == thrown.switch.at
    assert [(item.switch, item.is_stored) for item in listed] == [
        (thrown.switch, False),
        (other.switch, False),
    ]
    assert [(item.switch, item.is_stored) for item in later] == [
        (thrown.switch, True),
        (other.switch, True),
    ]
    assert (held, await is_off(registry)) == (True, True)
    await switches.on("writes", principal=LOCAL)
    assert await is_off(registry)  # what was stored in the background is not forgotten


@virtually
async def test_what_is_turned_off_anew_is_listed_once_as_it_holds_here(clock: FakeClock) -> None:
    _, switches = insisting(store := Away())
    store.error = None
    await switches.off("tool", "pay", reason="first", principal=LOCAL)
    store.error = StoreUnavailable("locked")
    await switches.off("tool", "pay", reason="second", principal=LOCAL)

    listed = [(item.switch.reason, item.is_stored) for item in await switches.list(principal=LOCAL)]
    store.error = None
    await asyncio.sleep(1)  # until it is stored

    assert listed == [("second", False)]


@virtually
async def test_of_several_who_turn_it_off_at_once_none_is_told_that_it_is_stored(
    clock: FakeClock,
) -> None:
    class Slow(Away):
        async def put(self, switch: Switch) -> None:
            await asyncio.sleep(0.1)  # the others wait for their turn
            await super().put(switch)

    _, switches = insisting(store := Slow())
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(switches.off("tool", "pay", reason=why, principal=LOCAL))
            for why in "abc"
        ]
    store.error = None
    await asyncio.sleep(1)

    assert [task.result().is_stored for task in tasks] == [False] * 3
    assert [
        (item.switch.reason, item.is_stored) for item in await switches.list(principal=LOCAL)
    ] == [("c", True)]


@virtually
async def test_it_is_off_before_the_store_has_answered(clock: FakeClock) -> None:
    class Slow(Away):
        async def put(self, switch: Switch) -> None:
            await asyncio.sleep(60)

    registry, switches = insisting(Slow())
    turning = asyncio.create_task(switches.off("tool", "pay", principal=LOCAL))
    await asyncio.sleep(0)
    assert await is_off(registry)
    turning.cancel()
    await asyncio.wait([turning])
    assert await is_off(registry)


@virtually
async def test_what_is_off_here_alone_stays_off_until_it_is_surely_on_again(
    clock: FakeClock,
) -> None:
    registry, switches = insisting(store := Away())
    await switches.off("tool", "pay", principal=LOCAL)
    with pytest.raises(StoreUnavailable):
        await switches.on("tool", "pay", principal=LOCAL)
    held = await is_off(registry)
    store.error = None
    thrown = await switches.on("tool", "pay", principal=LOCAL)
    await asyncio.sleep(0.7)  # longer than until the next try to store it

    assert held
    assert (thrown.is_off, thrown.is_stored) == (False, False)
    assert not await is_off(registry)
    assert await switches.list(principal=LOCAL) == []


@virtually
async def test_what_is_turned_off_anew_while_it_is_turned_on_stays_off(clock: FakeClock) -> None:
    class Between(Away):
        async def remove(self, kind: SwitchKind, name: str) -> bool:
            self.error = StoreUnavailable("locked")
            await asyncio.create_task(begun())
            return True

    async def begun() -> None:
        turning.append(
            asyncio.create_task(switches.off("tool", "pay", reason="again", principal=LOCAL))
        )
        await asyncio.sleep(0)

    turning: list[asyncio.Task[Any]] = []
    registry, switches = insisting(Between())
    await switches.off("tool", "pay", principal=LOCAL)
    await switches.on("tool", "pay", principal=LOCAL)
    await asyncio.wait(turning)

    assert await is_off(registry)


@virtually
async def test_a_closed_store_is_not_asked_again_and_nothing_is_on_for_that(
    clock: FakeClock,
) -> None:
    registry, switches = insisting(store := Away())
    store.error = storage_closed_error()
    await switches.off("tool", "pay", principal=LOCAL)
    await asyncio.sleep(0.7)
    tries = store.tries
    await asyncio.sleep(1.1)

    assert await is_off(registry)
    assert store.tries == tries == 2


@pytest.mark.timeout(60)
async def test_it_is_tried_again_and_again_one_after_the_other() -> None:
    registry, switches = insisting(store := Away())
    await switches.off("tool", "pay", principal=LOCAL)
    await switches.off("tool", "look", principal=LOCAL)
    await until(lambda: store.tries == 3)  # the first one in vain: the other waits for it
    store.error = None
    await until(lambda: store.tries == 5)
    thrown = await switches.list(principal=LOCAL)

    assert await is_off(registry)
    assert [(item.switch.name, item.is_stored) for item in thrown] == [
        ("look", True),
        ("pay", True),
    ]


@pytest.mark.parametrize("is_back", [True, False], ids=["is back", "is still away"])
async def test_at_the_end_it_is_tried_once_more_and_what_is_lost_is_said(
    is_back: bool, caplog: pytest.LogCaptureFixture
) -> None:
    registry, switches = insisting(store := Away())
    await switches.off("tool", "pay", principal=LOCAL)
    await switches.off("writes", principal=LOCAL)
    if is_back:
        store.error = None
    await switches.unsaved.close()

    told = "not stored, on again after a restart: tool pay, all writes: locked"
    assert (told in caplog.text) is not is_back
    assert len(await store.switches()) == (2 if is_back else 0)
    assert await is_off(registry)
