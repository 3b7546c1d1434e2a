"""Kill switches, in every storage."""

from pathlib import Path
from typing import Any

import pytest
from tests.storage.made import NOON, a_storage

from pegboard.core.ports.kill_switch_store import Switch
from pegboard.errors import Unavailable
from pegboard.storage import Storage
from pegboard.testing import FakeClock


def a_switch(name: str = "shop__*", **changes: Any) -> Switch:
    fields: dict[str, Any] = {
        "kind": "tool",
        "reason": "it pays twice",
        "at": NOON,
        "by": "acme/ada",
    }
    return Switch(name=name, **(fields | changes))


SHOP = a_switch("shop", kind="source")
WRITES = a_switch("", kind="writes", by="")


async def test_what_is_thrown_is_given_back_in_order(storage: Storage, other: Storage) -> None:
    for switch in (WRITES, a_switch("shop__pay"), SHOP, a_switch()):
        await storage.switches.put(switch)

    thrown = [SHOP, a_switch(), a_switch("shop__pay"), WRITES]
    assert await storage.switches.switches() == thrown
    assert await other.switches.switches() == thrown


async def test_a_switch_that_is_thrown_again_has_the_new_reason(storage: Storage) -> None:
    await storage.switches.put(a_switch())
    await storage.switches.put(a_switch(reason="it still does", at=NOON + 9, by="acme/bob"))

    assert await storage.switches.switches() == [
        a_switch(reason="it still does", at=NOON + 9, by="acme/bob")
    ]


async def test_only_what_is_thrown_is_taken_back(storage: Storage, other: Storage) -> None:
    await storage.switches.put(a_switch("shop"))
    await storage.switches.put(SHOP)

    assert await other.switches.remove("source", "shop")
    assert not await storage.switches.remove("source", "shop")
    assert not await storage.switches.remove("tool", "shop__*")
    assert await storage.switches.switches() == [a_switch("shop")]


async def test_texts_that_no_database_takes_as_they_are_can_be_taken_back(
    storage: Storage,
) -> None:
    await storage.switches.put(a_switch("lone \ud800 half", reason="why \ud800"))

    assert len(await storage.switches.switches()) == 1
    assert await storage.switches.remove("tool", "lone \ud800 half")


async def test_a_closed_store_says_so(storage: Storage) -> None:
    await storage.close()

    with pytest.raises(Unavailable):
        await storage.switches.switches()
    with pytest.raises(Unavailable):
        await storage.switches.put(a_switch())


async def test_a_restart_keeps_them(tmp_path: Path, clock: FakeClock) -> None:
    async with a_storage("sqlite", tmp_path, clock) as first:
        await first.switches.put(a_switch())
    async with a_storage("sqlite", tmp_path, clock) as second:
        assert await second.switches.switches() == [a_switch()]
