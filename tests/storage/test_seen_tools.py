"""What tools were when they were seen last, in every storage."""

from pathlib import Path
from typing import Any

import pytest
from tests.storage.made import NOON, a_storage

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.catalogue_stores import LastKnownTool
from pegboard.errors import Unavailable
from pegboard.storage import Storage
from pegboard.storage.databases.sqlite import SqliteDatabase
from pegboard.storage.memory.last_known_tools import MemorySeenTools
from pegboard.storage.sql.last_known_tools import SqlSeenTools
from pegboard.testing import FakeClock


def a_seen(name: str = "shop__find", **changes: Any) -> LastKnownTool:
    fields: dict[str, Any] = {
        "id": f"{name}_v1",
        "digest": "d1",
        "definition": {"name": name, "capabilities": ["find"]},
        "seen_at": NOON,
    }
    return LastKnownTool(name=name, **(fields | changes))


async def test_what_is_kept_is_given_back_as_it_was_seen(storage: Storage, other: Storage) -> None:
    await storage.seen_tools.put([])
    await storage.seen_tools.put([a_seen("late", seen_at=NOON + 1), a_seen("b"), a_seen("a")])

    kept = [a_seen("a"), a_seen("b"), a_seen("late", seen_at=NOON + 1)]
    assert await storage.seen_tools.tools() == kept
    assert await other.seen_tools.tools() == kept


async def test_the_newer_takes_the_place_of_the_older(storage: Storage, other: Storage) -> None:
    newer = a_seen(digest="d2", definition={"name": "shop__find"}, seen_at=NOON + 9)
    await storage.seen_tools.put([a_seen(), a_seen("shop__pay")])
    await other.seen_tools.put([newer])

    assert await storage.seen_tools.tools() == [a_seen("shop__pay"), newer]


async def test_texts_that_no_database_takes_as_they_are_are_kept(storage: Storage) -> None:
    await storage.seen_tools.put([a_seen(definition={"name": "lone \ud800", "nul": "\x00"})])

    (kept,) = await storage.seen_tools.tools()
    assert kept.definition["nul"] == "\x00"


async def test_beyond_the_bound_what_was_seen_first_is_forgotten(
    tmp_path: Path, clock: FakeClock
) -> None:
    database = SqliteDatabase(tmp_path, clock=clock, sweep=lambda _: None, max_rows=10)
    seen = [a_seen(str(number), seen_at=NOON + number) for number in (3, 1, 2)]
    found: list[list[str]] = []
    for store in (MemorySeenTools(ClosableLock(), most=2), SqlSeenTools(database, most=2)):
        await store.put(seen)
        await store.put([a_seen("new", seen_at=NOON + 2.5)])
        found.append([tool.name for tool in await store.tools()])
    database.close()

    assert found == [["new", "3"], ["new", "3"]]


async def test_a_restart_keeps_them(tmp_path: Path, clock: FakeClock) -> None:
    async with a_storage("sqlite", tmp_path, clock) as first:
        await first.seen_tools.put([a_seen()])
    async with a_storage("sqlite", tmp_path, clock) as second:
        assert await second.seen_tools.tools() == [a_seen()]


async def test_a_closed_store_says_so(storage: Storage) -> None:
    await storage.close()

    with pytest.raises(Unavailable):
        await storage.seen_tools.tools()
    with pytest.raises(Unavailable):
        await storage.seen_tools.put([a_seen()])
