import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from tests.execution.made import virtually
from tests.runtime.steered import (
    Board,
    Offering,
    Steered,
    die,
    hang,
    hung_prompts,
    one_prompt,
    state_of,
    tool,
    two,
)

from pegboard.core.event import SourceChanged
from pegboard.core.health import Health, HealthStatus
from pegboard.core.ports.source import SourceKind
from pegboard.core.resources_and_prompts import Prompt, Resource
from pegboard.core.tool import Tool
from pegboard.runtime.board_file import models
from pegboard.runtime.sources.state import Opener, SourceState
from pegboard.runtime.sources.supervisor import LOCAL_WAIT_FACTOR, wait_for_sources
from pegboard.testing import FakeClock


async def test_a_source_is_opened_and_listed() -> None:
    board = Board()
    source = Steered("a", two)

    await board.set.open([state_of(source)])
    await board.set.close()

    assert board.listed == {"a": ("a__one", "a__two")}
    assert board.heard.events == [SourceChanged(source="a", status="ok", tools=2)]
    assert source.closed == 1


@virtually
async def test_a_source_that_hangs_while_closing_stops_nobody(clock: FakeClock) -> None:
    class Clinging(Steered):
        async def close(self) -> None:
            await asyncio.sleep(3600)

    board = Board(timeout=0.1)
    clinging, well = Clinging("c", two), Steered("a", two)
    await board.set.open([state_of(clinging), state_of(well)])

    await board.set.close()

    assert well.closed == 1
    assert "did not close" in board.set.states["c"].reason


async def test_a_cancelled_closing_leaves_no_task() -> None:
    class Clinging(Steered):
        async def close(self) -> None:
            await asyncio.sleep(3600)

    board = Board(timeout=60)
    await board.set.open([state_of(Clinging("c", two))])
    closing = asyncio.create_task(board.set.close())
    await asyncio.sleep(0.05)

    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_one_that_cannot_be_opened_is_told_and_waited_for_by_nobody() -> None:
    board = Board()

    await board.set.open([SourceState(name="x", kind="x", status="failed", reason="pip install")])
    await board.set.refresh("x")
    await board.set.wait_until_settled()
    health = await board.set.health(board.set.states["x"])
    await board.set.close()

    told = SourceChanged(source="x", status="failed", reason="pip install")
    assert board.heard.events == [told, told]
    assert health == Health(status=HealthStatus.UNHEALTHY, reason="pip install")


@virtually
async def test_opening_goes_on_without_slow_ones_which_come_later(clock: FakeClock) -> None:
    answers = asyncio.Event()

    async def late() -> Sequence[Tool]:
        await answers.wait()
        return await two()

    board = Board(timeout=30, patience=0.02)
    await board.set.open([state_of(Steered("a", late)), state_of(Steered("b", two))])
    state = board.set.states["a"]
    early = (state.status, set(board.listed), state.listed.is_set())
    health = await board.set.health(state)
    answers.set()
    await board.set.wait_until_settled()
    late_status = (state.status, set(board.listed), state.listed.is_set())
    await board.set.close()

    assert early == ("pending", {"b"}, False)
    assert health == Health(status=HealthStatus.UNKNOWN, reason="it has not answered yet")
    assert late_status == ("ok", {"a", "b"}, True)


@virtually
async def test_a_source_that_has_its_tools_is_listed_before_its_prompts_are(
    clock: FakeClock,
) -> None:
    board = Board(timeout=30, patience=0.05)

    await board.set.open([state_of(Offering("a", hung_prompts))])
    state = board.set.states["a"]
    known = (state.status, state.listed.is_set(), state.settled.is_set())
    await board.set.close()

    assert known == ("ok", True, False)


async def test_a_change_is_followed() -> None:
    answers = [[tool("a__one")], [tool("a__one"), tool("a__new")]]

    async def behave() -> Sequence[Tool]:
        return answers.pop(0) if len(answers) > 1 else answers[0]

    board = Board()
    source = Steered("a", behave)
    await board.set.open([state_of(source)])
    assert source.changed is not None

    await asyncio.to_thread(source.changed)
    while board.listed["a"] != ("a__one", "a__new"):  # noqa: ASYNC110 - the set follows by itself
        await asyncio.sleep(0.01)
    await board.set.close()

    assert board.listed["a"] == ("a__one", "a__new")


async def test_what_fails_later_keeps_its_tools_and_is_degraded() -> None:
    behaviours: list[Callable[[], Awaitable[Sequence[Tool]]]] = [two, die]
    source = Steered("a", lambda: behaviours.pop(0)())  # noqa: PLW0108 - taken anew each time
    board = Board()
    await board.set.open([state_of(source)])

    await board.set.refresh("a")
    state = board.set.states["a"]
    await board.set.close()

    assert (state.status, state.reason) == ("degraded", "the server is down; start it")
    assert len(state.tools) == 2
    assert board.listed["a"] == ("a__one", "a__two")


@virtually
async def test_a_failed_source_is_tried_again(clock: FakeClock) -> None:
    behaviours: list[Callable[[], Awaitable[Sequence[Tool]]]] = [die, die, two]
    source = Steered("a", lambda: (behaviours.pop(0) if behaviours else two)())  # noqa: PLW0108 - taken anew
    board = Board(retry=0.02)

    await board.set.open([state_of(source)])
    for _ in range(200):
        await asyncio.sleep(0.01)
        if "a" in board.listed:
            break
    await board.set.close()

    assert board.listed == {"a": ("a__one", "a__two")}


async def test_a_dropped_source_is_closed_and_forgotten() -> None:
    board = Board()
    source = Steered("a", two)
    await board.set.open([state_of(source)])

    await board.set.drop("a")

    assert source.closed == 1
    assert board.set.states == {}
    await board.set.close()


async def test_a_cancelled_opening_leaves_no_task() -> None:
    board = Board(timeout=60)
    opening = asyncio.create_task(board.set.open([state_of(Steered("hung", hang))]))
    await asyncio.sleep(0.05)

    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_board_that_fails_over_a_source_keeps_nobody_waiting_and_goes_on_following() -> (
    None
):
    class Odd(Board):
        offerings = 0

        def publish_offers(
            self, state: SourceState, resources: Sequence[Resource], prompts: Sequence[Prompt]
        ) -> None:
            self.offerings += 1
            if self.offerings < 3:
                raise ValueError("odd")
            super().publish_offers(state, resources, prompts)

    board = Odd()
    await board.set.open([state_of(Offering("a", one_prompt))])
    await board.set.wait_until_settled()
    for number in (2, 3):
        board.set.states["a"].relist.set()
        while board.offerings < number:  # noqa: ASYNC110 - the set follows by itself
            await asyncio.sleep(0.01)
    await board.set.close()

    assert board.offered == {"a": ("a__greet",)}


def _state(*, remote: bool) -> SourceState:
    async def open_it(*_: Any) -> Any:
        raise NotImplementedError

    kind = SourceKind(kind="k", title="K", config=models.Board, open=open_it, remote=remote)
    return SourceState(name="a", kind="k", opener=Opener(kind=kind, config=models.Board()))


@pytest.mark.parametrize(
    ("remote", "patience", "least", "most"),
    [
        (True, 0.1, 0.1, 0.1 * LOCAL_WAIT_FACTOR),
        (False, 0.1, 0.1 * LOCAL_WAIT_FACTOR, 2),
        (True, 0, 0, 0.3),
        (False, 0, 0, 0.3),
    ],
    ids=["remote", "of this process", "remote without", "of this process without"],
)
@virtually
async def test_what_hangs_is_waited_for_no_longer_than_this(
    clock: FakeClock, remote: bool, patience: float, least: float, most: float
) -> None:
    hung = asyncio.create_task(asyncio.sleep(60))

    began = clock.monotonic()
    await wait_for_sources({hung: _state(remote=remote)}, patience=patience)
    took = clock.monotonic() - began

    assert not hung.done()
    assert least <= took + 0.01 < most
    hung.cancel()


@virtually
async def test_what_answers_is_not_waited_for_any_longer(clock: FakeClock) -> None:
    began = clock.monotonic()
    done = asyncio.create_task(asyncio.sleep(0.01))
    await wait_for_sources({done: _state(remote=False)}, patience=30)
    later = asyncio.create_task(asyncio.sleep(0.05))
    await wait_for_sources({later: _state(remote=True)}, patience=None)
    await wait_for_sources({}, patience=30)

    assert (done.done(), later.done()) == (True, True)
    assert clock.monotonic() - began < 2
