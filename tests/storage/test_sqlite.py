"""The storage with a data directory: one process, one file, and what happens when that fails."""

import asyncio
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from tests.storage.made import NOON, a_record, a_result, a_start, a_written, an_outcome

from pegboard.core.ports.store import HistoryQuery
from pegboard.errors import ConfigError, Unavailable
from pegboard.storage import Storage, open_history, open_storage
from pegboard.storage.connection import open_writer
from pegboard.storage.schema import CURRENT, MIGRATIONS, Migration, migrate
from pegboard.storage.writer import Writer
from pegboard.testing import FakeClock

ROOT = Path(__file__).parents[2]

HOLDER = """
import sys
from pegboard.storage import open_storage
storage = open_storage(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


async def test_what_was_kept_is_there_after_a_restart(tmp_path: Path, clock: FakeClock) -> None:
    async with open_storage(tmp_path, clock=clock) as storage:
        storage.listener.on_event(a_record("c1"))
        await storage.journal.started(a_start("w1"))
        await storage.results.put(a_result())
        await storage.outcomes.claim(an_outcome())

    async with open_storage(tmp_path, clock=clock) as storage:
        page = await storage.history.calls(HistoryQuery())
        assert [row["call_id"] for row in page.calls] == ["w1", "c1"]
        assert await storage.results.get("pegboard://results/r1", "acme/ada") == a_result()
        assert await storage.outcomes.claim(an_outcome()) == an_outcome()


async def test_what_is_kept_can_be_read_by_its_user_alone(tmp_path: Path) -> None:
    data = tmp_path / "new" / "data"
    async with open_storage(data) as storage:
        await storage.journal.started(a_start())
        modes = {path.name: path.stat().st_mode & 0o777 for path in (data, *data.iterdir())}

    assert modes == {
        "data": 0o700,
        "lock": 0o600,
        "pegboard.db": 0o600,
        "pegboard.db-wal": 0o600,
        "pegboard.db-shm": 0o600,
    }


async def test_the_file_is_in_wal_mode(tmp_path: Path) -> None:
    async with open_storage(tmp_path):
        pass

    with sqlite3.connect(tmp_path / "pegboard.db") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_directory_that_another_process_holds_is_refused_with_its_pid(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(ConfigError) as caught:
            open_storage(tmp_path)
        holder.kill()

    message = str(caught.value)
    assert str(tmp_path) in message
    assert f"process {holder.pid}" in message
    assert "Stop it, or name another directory with --data" in message


async def test_a_directory_is_free_again_after_close(tmp_path: Path) -> None:
    async with open_storage(tmp_path):
        with pytest.raises(ConfigError, match=f"this process .{os.getpid()}."):
            open_storage(tmp_path)

    async with open_storage(tmp_path) as again:
        await again.flush()


async def test_a_reader_sees_what_another_has_open(tmp_path: Path) -> None:
    async with open_storage(tmp_path) as storage:
        await storage.journal.started(a_start("w1"))
        async with open_history(tmp_path) as history:
            page = await history.calls(HistoryQuery())

    assert [row["call_id"] for row in page.calls] == ["w1"]


async def test_a_reader_needs_nobody_to_have_it_open(tmp_path: Path) -> None:
    async with open_storage(tmp_path) as storage:
        storage.listener.on_event(a_record("c1", status="failed", error_id="e", error_detail="d"))

    async with open_history(tmp_path) as history:
        page = await history.calls(HistoryQuery())
        detail = await history.detail("e")

    assert [row["call_id"] for row in page.calls] == ["c1"]
    assert detail is not None


async def test_a_reader_of_an_empty_directory_is_told_where_to_look(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing has been recorded there"):
        async with open_history(tmp_path):
            pass


def spoil_header(path: Path) -> None:
    path.write_bytes(b"this is no database, it is a letter" * 100)


def spoil_schema(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE holidays (day TEXT)")
    connection.close()


def make_newer(path: Path) -> None:
    connection = open_writer(path, NOON)
    connection.execute("INSERT INTO schema_version VALUES (99, 'from the future', 0)")
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (spoil_header, "file is not a database"),
        (spoil_schema, "a database that Pegboard did not make"),
        (make_newer, f"a newer Pegboard made it .schema 99, this one knows {CURRENT}.; upgrade"),
        (Path.mkdir, "(unable to open database file|disk I/O error)"),
    ],
    ids=["damaged", "not ours", "newer", "a folder"],
)
async def test_a_file_that_cannot_be_used_is_one_clear_line(
    tmp_path: Path, spoil: Callable[[Path], None], reason: str
) -> None:
    spoil(tmp_path / "pegboard.db")

    with pytest.raises(ConfigError, match=reason) as caught:
        open_storage(tmp_path)
    with pytest.raises(ConfigError, match=f"pegboard.db cannot be opened: .*{reason}"):
        async with open_history(tmp_path):
            pass

    assert str(tmp_path / "pegboard.db") in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_a_refused_file_leaves_no_lock_behind(tmp_path: Path) -> None:
    spoil_header(tmp_path / "pegboard.db")
    with pytest.raises(ConfigError, match="not a database"):
        open_storage(tmp_path)
    (tmp_path / "pegboard.db").unlink()

    async with open_storage(tmp_path) as storage:
        await storage.flush()


@pytest.mark.parametrize("below", ["file/data", "file"], ids=["inside a file", "a file"])
def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError, match="cannot be made"):
        open_storage(tmp_path / below)


def test_an_older_file_is_brought_forward(tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "pegboard.db", NOON)
    connection.execute("INSERT INTO results VALUES ('h', 'o', 'text/plain', 'n', 0, 1, x'00')")
    later = Migration(
        version=CURRENT + 1,
        name="results have a note",
        statements=("ALTER TABLE results ADD COLUMN note TEXT NOT NULL DEFAULT ''",),
    )

    migrate(connection, NOON + 1, migrations=(*MIGRATIONS, later))

    assert connection.execute("SELECT handle, note FROM results").fetchall() == [("h", "")]
    steps = connection.execute("SELECT version, applied_at FROM schema_version").fetchall()
    assert steps == [*((m.version, NOON) for m in MIGRATIONS), (later.version, NOON + 1)]
    connection.close()


def test_a_migration_that_fails_midway_changes_nothing(tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "pegboard.db", NOON)
    broken = Migration(
        version=CURRENT + 1,
        name="broken",
        statements=("CREATE TABLE half (x)", "CREATE TABLE calls (x)"),
    )

    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(connection, NOON, migrations=(*MIGRATIONS, broken))

    assert connection.execute("SELECT name FROM sqlite_schema WHERE name = 'half'").fetchall() == []
    assert connection.execute("SELECT max(version) FROM schema_version").fetchone() == (CURRENT,)
    connection.close()


async def test_a_full_disk_refuses_writes_and_keeps_what_was_there(
    tmp_path: Path, clock: FakeClock
) -> None:
    storage = open_storage(tmp_path, clock=clock)
    await storage.journal.started(a_start("before"))
    await limit_pages(storage, 0)

    for operation in (
        storage.results.put(a_result(body=b"x" * 100_000)),
        storage.journal.started(a_start("during" * 5_000)),
    ):
        with pytest.raises(Unavailable, match="its disk is full") as caught:
            await operation
        assert caught.value.nothing_done

    await limit_pages(storage, 1_000_000)
    await storage.journal.started(a_start("after"))
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


def writer_of(storage: Storage) -> Writer:
    return cast("Any", storage)._writer


async def limit_pages(storage: Storage, spare: int) -> None:
    """Let the file grow by this many pages only."""

    def limit(connection: sqlite3.Connection) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + spare}")

    await writer_of(storage).run(limit)  # the limit is the connection's own


async def test_a_file_that_another_program_locks_answers_later(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.storage.connection.BUSY_SECONDS", 0.05)
    async with open_storage(tmp_path, clock=clock) as storage:
        other = sqlite3.connect(tmp_path / "pegboard.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        storage.listener.on_event(a_record("c1"))
        with pytest.raises(Unavailable, match="locked by another program") as caught:
            await storage.journal.started(a_start("w1"))
        readable = await storage.history.calls(HistoryQuery())
        other.execute("COMMIT")
        other.close()
        await storage.journal.started(a_start("w2"))
        page = await storage.history.calls(HistoryQuery())

    assert caught.value.retry_after == 1.0
    assert list(readable.calls) == []
    assert sorted(row["call_id"] for row in page.calls) == ["c1", "w2"]


async def test_a_full_queue_drops_reads_but_never_the_end_of_a_started_write(
    tmp_path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    storage = open_storage(tmp_path, clock=clock, max_queued=10)
    for number in range(5):
        await storage.journal.started(a_start(f"w{number}"))
    with caplog.at_level(logging.WARNING, "pegboard.storage"):
        for number in range(100):
            storage.listener.on_event(a_record(f"r{number}"))
        for number in range(5):
            storage.listener.on_event(a_written(f"w{number}"))
        await storage.flush()

    unfinished = await storage.history.calls(HistoryQuery(unfinished=True))
    everything = await storage.history.calls(HistoryQuery(limit=1000))
    await storage.close()
    assert list(unfinished.calls) == []
    assert len(everything.calls) + storage.dropped == 105
    assert storage.dropped >= 1
    assert "history rows were dropped so far" in caplog.text


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
        await storage.journal.started(a_start("w1"))
        page = await storage.history.calls(HistoryQuery())
        dropped = storage.dropped

    assert [row["call_id"] for row in page.calls] == ["w1", "c4", "c1"]
    assert dropped == 2


async def test_a_start_that_nobody_waits_for_any_more_is_kept(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with open_storage(tmp_path, clock=clock) as storage:
        task = asyncio.ensure_future(storage.journal.started(a_start("w1")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        page = await storage.history.calls(HistoryQuery(unfinished=True))

    assert [row["call_id"] for row in page.calls] == ["w1"]


async def test_starts_at_the_same_time_share_a_commit(tmp_path: Path, clock: FakeClock) -> None:
    async with open_storage(tmp_path, clock=clock) as storage:
        await storage.journal.started(a_start("first"))
        statements: list[str] = []

        def trace(connection: sqlite3.Connection) -> None:
            connection.set_trace_callback(statements.append)

        await writer_of(storage).run(trace)  # commits are not seen elsewhere
        async with asyncio.TaskGroup() as group:
            for number in range(200):
                group.create_task(storage.journal.started(a_start(f"w{number}")))

    assert 1 <= statements.count("COMMIT") < 50


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


def test_records_still_waiting_are_written_when_the_program_ends(tmp_path: Path) -> None:
    program = """
import sys
from pegboard.storage import open_storage
from tests.storage.made import a_record
storage = open_storage(sys.argv[1])
storage.listener.on_event(a_record("last words"))
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, cwd=ROOT, timeout=9)

    with sqlite3.connect(tmp_path / "pegboard.db") as connection:
        calls = connection.execute("SELECT call_id FROM calls").fetchall()
    connection.close()
    assert calls == [("last words",)]
