"""Commits that are shared, and what happens when they fail."""

import asyncio
import logging
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from tests.storage.made import (
    NOON,
    ROOT,
    a_record,
    a_result,
    a_start,
    a_written,
)

from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.errors import Overloaded, Unavailable
from pegboard.storage import Storage, open_storage
from pegboard.storage.databases import sqlite_file
from pegboard.storage.databases.sqlite_writer import SqliteWriter
from pegboard.storage.databases.transaction import Transaction
from pegboard.testing import FakeClock


def writer_of(storage: Storage) -> SqliteWriter:
    return cast("Any", storage)._database._writer


async def limit_pages(storage: Storage, spare: int) -> None:
    """Let the file grow by this many pages only."""

    def limit(transaction: Transaction) -> None:
        pages = transaction.driver.execute("PRAGMA page_count").fetchone()[0]
        transaction.driver.execute(f"PRAGMA max_page_count = {pages + spare}")

    await writer_of(storage).run(limit)  # the limit is the connection's own


@asynccontextmanager
async def held(storage: Storage) -> AsyncGenerator[None]:
    """The writing thread is busy inside of this: what comes meanwhile waits."""
    busy, go_on = threading.Event(), threading.Event()

    def wait(_: Transaction) -> None:
        busy.set()
        go_on.wait(60)

    holding = asyncio.ensure_future(writer_of(storage).run(wait))
    await asyncio.to_thread(busy.wait, 60)
    try:
        yield
    finally:
        go_on.set()
        await holding


async def test_a_full_disk_refuses_writes_and_keeps_what_was_there(
    tmp_path: Path, clock: FakeClock
) -> None:
    storage = open_storage(tmp_path, clock=clock)
    await storage.journal.record_start(a_start("before"))
    await limit_pages(storage, 0)

    for operation in (
        storage.results.put(a_result(body=b"x" * 100_000)),
        storage.journal.record_start(a_start("during" * 5_000)),
    ):
        with pytest.raises(Unavailable, match="its disk is full") as caught:
            await operation
        assert caught.value.nothing_done
        assert caught.value.retry_after == 30
        assert storage.problem == str(caught.value)

    await limit_pages(storage, 1_000_000)
    await storage.journal.record_start(a_start("after"))
    page = await storage.history.calls(HistoryQuery())
    await storage.close()
    assert sorted(row["call_id"] for row in page.calls) == ["after", "before"]


async def test_records_wait_out_a_full_disk(tmp_path: Path, clock: FakeClock) -> None:
    storage = open_storage(tmp_path, clock=clock)
    await limit_pages(storage, 0)

    storage.listener.on_event(a_record("c1", reason="r" * 100_000))
    await storage.flush()
    during = await storage.history.calls(HistoryQuery())
    await limit_pages(storage, 1_000_000)
    await storage.flush()
    after = await storage.history.calls(HistoryQuery())
    dropped = storage.dropped
    await storage.close()

    assert list(during.calls) == []
    assert [row["call_id"] for row in after.calls] == ["c1"]
    assert dropped == 0


async def test_records_that_never_fit_are_counted_and_said_at_the_end(
    tmp_path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    storage = open_storage(tmp_path, clock=clock)
    await limit_pages(storage, 0)
    storage.listener.on_event(a_record("c1", reason="r" * 100_000))

    with caplog.at_level(logging.ERROR, "pegboard.storage"):
        await storage.close()

    assert storage.dropped == 1
    assert "1 history rows could not be stored: database or disk is full" in caplog.text


async def test_a_full_queue_drops_reads_but_never_the_end_of_a_started_write(
    tmp_path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    storage = open_storage(tmp_path, clock=clock, max_queued=10)
    for number in range(5):
        await storage.journal.record_start(a_start(f"w{number}"))
    with caplog.at_level(logging.WARNING, "pegboard.storage"):
        async with held(storage):
            for number in range(100):
                storage.listener.on_event(a_record(f"r{number}"))
            for number in range(5):
                storage.listener.on_event(a_written(f"w{number}"))
        await storage.flush()

    unfinished = await storage.history.calls(HistoryQuery(unfinished=True))
    everything = await storage.history.calls(HistoryQuery(limit=1000))
    await storage.close()
    assert list(unfinished.calls) == []
    assert (len(everything.calls), storage.dropped) == (15, 90)
    assert "history rows have been dropped so far" in caplog.text


async def test_one_record_that_cannot_be_stored_costs_no_other(
    tmp_path: Path, clock: FakeClock
) -> None:
    def redact(text: str) -> str:
        if text == "poison":
            raise LookupError(text)
        return text

    async with open_storage(tmp_path, clock=clock, redact=redact) as storage:
        storage.listener.on_event(a_record("c1"))
        storage.listener.on_event(a_record("c2", reason="poison"))
        storage.listener.on_event(a_record("c3", started_at=float("nan")))
        storage.listener.on_event(a_record("c4"))
        await storage.journal.record_start(a_start("w1"))
        page = await storage.history.calls(HistoryQuery())
        dropped = storage.dropped

    assert [row["call_id"] for row in page.calls] == ["w1", "c4", "c1"]
    assert dropped == 2


async def test_a_start_that_nobody_waits_for_any_more_is_kept(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with open_storage(tmp_path, clock=clock) as storage:
        task = asyncio.ensure_future(storage.journal.record_start(a_start("w1")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        page = await storage.history.calls(HistoryQuery(unfinished=True))

    assert [row["call_id"] for row in page.calls] == ["w1"]


async def test_starts_at_the_same_time_share_a_commit(tmp_path: Path, clock: FakeClock) -> None:
    async with open_storage(tmp_path, clock=clock) as storage:
        await storage.journal.record_start(a_start("first"))
        statements: list[str] = []

        def trace(transaction: Transaction) -> None:
            transaction.driver.set_trace_callback(statements.append)

        await writer_of(storage).run(trace)  # commits are not seen elsewhere
        async with held(storage):
            starts = [
                asyncio.ensure_future(storage.journal.record_start(a_start(f"w{number}")))
                for number in range(200)
            ]
            await asyncio.sleep(0)
        await asyncio.gather(*starts)

    assert 1 <= statements.count("COMMIT") < 5


async def test_expired_things_are_swept_without_being_asked(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with open_storage(tmp_path, clock=clock) as storage:
        await storage.results.put(a_result("short", expires_at=NOON + 10))
        clock.advance(120)
        await storage.flush()
        await storage.flush()
    with sqlite3.connect(tmp_path / "pegboard.db") as connection:
        left = connection.execute("SELECT count(*) FROM results").fetchone()
    connection.close()

    assert left == (0,)


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_records_still_waiting_are_written_when_the_program_ends(tmp_path: Path) -> None:
    program = """
import sys
import threading
from pegboard.storage import open_storage
from tests.storage.made import a_record
storage = open_storage(sys.argv[1])
storage.listener.on_event(a_record("last words"))
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, cwd=ROOT, timeout=50)

    with sqlite3.connect(tmp_path / "pegboard.db") as connection:
        calls = connection.execute("SELECT call_id FROM calls").fetchall()
    connection.close()
    assert calls == [("last words",)]


async def test_a_start_returns_only_once_it_is_committed(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 60.0)  # however long this test is held up
    async with open_storage(tmp_path, clock=clock) as storage:
        other = sqlite3.connect(tmp_path / "pegboard.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        task = asyncio.ensure_future(storage.journal.record_start(a_start("w1")))
        await asyncio.wait({task}, timeout=0.2)
        early = task.done()
        other.execute("COMMIT")
        await task
        committed = other.execute("SELECT call_id FROM calls").fetchall()
        other.close()

    assert not early
    assert committed == [("w1",)]


async def test_an_operation_at_fault_itself_fails_alone(tmp_path: Path, clock: FakeClock) -> None:
    def surprise(transaction: Transaction) -> None:
        raise LookupError("surprise")

    async with open_storage(tmp_path, clock=clock) as storage:
        refused = asyncio.ensure_future(
            storage.results.put(a_result("never", expires_at=float("nan")))
        )
        surprised = asyncio.ensure_future(writer_of(storage).run(surprise))
        kept = asyncio.ensure_future(storage.results.put(a_result("kept")))
        await asyncio.wait({refused, surprised, kept})
        result = await storage.results.get("kept", "acme/ada")

    assert isinstance(refused.exception(), Unavailable)
    assert isinstance(surprised.exception(), LookupError)
    assert kept.exception() is None
    assert result is not None


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_too_many_at_once_are_told_to_come_back(tmp_path: Path, clock: FakeClock) -> None:
    async with open_storage(tmp_path, clock=clock) as storage:
        async with held(storage):
            starts = [
                asyncio.ensure_future(storage.journal.record_start(a_start(f"w{number}")))
                for number in range(11_000)
            ]
            await asyncio.sleep(0)
        done, _ = await asyncio.wait(starts)
        page = await storage.history.calls(HistoryQuery(unfinished=True, limit=1000))

    outcomes = [type(start.exception()) for start in done]
    assert set(outcomes) == {type(None), Overloaded}
    assert outcomes.count(type(None)) == 10_000
    assert len(page.calls) == 1000


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_when_the_thread_ends_nobody_waits_for_ever(tmp_path: Path, clock: FakeClock) -> None:
    def end(transaction: Transaction) -> None:
        raise SystemExit

    storage = open_storage(tmp_path, clock=clock)
    storage.listener.on_event(a_record("c1"))
    with pytest.raises(Unavailable, match="closed"):
        await writer_of(storage).run(end)
    with pytest.raises(Unavailable, match="closed"):
        await storage.journal.record_start(a_start("w1"))
    await storage.close()

    async with open_storage(tmp_path, clock=clock) as again:
        await again.journal.record_start(a_start("w2"))
