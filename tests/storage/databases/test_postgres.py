"""A PostgreSQL that several servers share, that goes away, and that comes back."""

import asyncio
import threading
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, make_url, select, text
from tests.storage.made import (
    NOON,
    a_record,
    a_result,
    a_start,
    a_written,
    an_outcome,
    ids,
)
from tests.storage.test_approvals import an_approval

from pegboard.core.ports.audit_store import AuditEntry
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.core.result import ToolResult
from pegboard.errors import ConfigError, Overloaded, Unavailable
from pegboard.storage import Storage, open_history, open_storage
from pegboard.storage.databases import postgres as module
from pegboard.storage.databases.postgres import PostgresDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.migrate import TABLE
from pegboard.storage.tables import METADATA
from pegboard.testing import FakeClock


def database_of(storage: Storage) -> PostgresDatabase:
    return cast("Any", storage)._database


def admin(address: str, *statements: str) -> list[Any]:
    found: list[Any] = []
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement.encode())
            found = cursor.fetchall() if cursor.description else []
    return found


async def test_while_the_database_is_gone_nothing_is_stored_and_afterwards_nothing_is_lost(
    own_server: Any, own_postgres: str, clock: FakeClock
) -> None:
    async with open_storage(own_postgres, clock=clock) as storage:
        await storage.journal.record_start(a_start("w1"))
        await storage.approvals.ask(an_approval())
        await storage.approvals.decide("a1", "approved", by="bob")
        await asyncio.to_thread(own_server.stop)
        storage.listener.on_event(a_written("w1"))
        storage.auditor.on_event(a_written("w1"))
        for refused in (
            storage.journal.record_start(a_start("w2")),
            storage.approvals.use("a1", digest="digest of a1", call_id="c1"),
            storage.outcomes.claim(an_outcome()),
            storage.results.get("x", "y"),
            storage.history.calls(HistoryQuery()),
            storage.sweep(),
            storage.flush(),
        ):
            with pytest.raises(Unavailable, match="cannot be reached") as caught:
                await refused
            assert (caught.value.nothing_done, caught.value.retry_after) == (True, 1.0)
        await asyncio.to_thread(own_server.start)
        claimed = await storage.outcomes.claim(an_outcome())
        used = await storage.approvals.use("a1", digest="digest of a1", call_id="c1")
        await storage.flush()
        calls = [row["status"] for row in (await storage.history.calls(HistoryQuery())).calls]
        report = await storage.audit.verify()
        dropped = storage.dropped

    assert claimed is None
    assert used is not None
    assert calls == ["completed"]
    assert (report.fault, report.checked) == ("", 1)
    assert dropped == 0


async def test_a_connection_that_was_cut_is_replaced_without_a_word(
    own_postgres: str, clock: FakeClock
) -> None:
    async with open_storage(own_postgres, clock=clock) as storage:
        for number in range(16):
            await storage.results.put(a_result(f"r{number}"))
        admin(
            own_postgres,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'pegboard'",
        )
        async with asyncio.TaskGroup() as group:
            for number in range(16):
                group.create_task(storage.journal.record_start(a_start(f"w{number}")))
        unfinished = await ids(storage, unfinished=True)

    assert len(unfinished) == 16


async def test_a_commit_whose_answer_is_lost_is_not_said_to_have_done_nothing(
    own_postgres: str, clock: FakeClock
) -> None:
    async with open_storage(own_postgres, clock=clock) as storage:

        def cut(transaction: Transaction) -> None:
            transaction.all(select(1))
            pid = transaction.driver.info.backend_pid
            admin(own_postgres, f"SELECT pg_terminate_backend({pid})")

        with pytest.raises(Unavailable, match="is not known") as caught:
            await database_of(storage).run(cut)

    assert not caught.value.nothing_done
    assert caught.value.retryable


async def test_records_whose_commit_was_answered_by_silence_are_written_once(
    own_postgres: str, clock: FakeClock
) -> None:
    async with open_storage(own_postgres, clock=clock) as storage:
        auditor = cast("Any", storage.auditor)
        auditor.on_event(a_written("w1"))
        batch = auditor._batch
        await storage.flush()
        # What the outbox does when the answer to its commit was lost.
        await database_of(storage).run(batch.write)
        report = await storage.audit.verify()

    assert (report.fault, report.checked) == ("", 1)


async def test_servers_that_start_at_once_make_the_tables_once(
    own_postgres: str, clock: FakeClock
) -> None:
    opened: list[Storage] = []
    threads = [
        threading.Thread(target=lambda: opened.append(open_storage(own_postgres, clock=clock)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    for storage in opened:
        await storage.journal.record_start(a_start("w1"))
        await storage.close()

    assert len(opened) == 4
    assert admin(own_postgres, "SELECT count(*) FROM calls") == [(1,)]


def test_what_migrations_make_is_what_the_tables_say(own_postgres: str) -> None:
    database = PostgresDatabase(own_postgres, clock=FakeClock(), sweep=_nothing, max_rows=10)
    database.close()
    engine = create_engine(make_url(own_postgres).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        options = {"version_table": TABLE, "compare_type": True}
        context = MigrationContext.configure(connection, opts=options)
        differences = compare_metadata(context, METADATA)
    engine.dispose()

    assert differences == []


@pytest.mark.slow
async def test_a_database_of_a_newer_pegboard_is_refused(own_postgres: str) -> None:
    async with open_storage(own_postgres):
        pass
    admin(own_postgres, f"UPDATE {TABLE} SET version_num = '9999'")

    with pytest.raises(ConfigError, match=r"it was created by a newer Pegboard .schema 9999"):
        open_storage(own_postgres)


def test_a_database_with_tables_of_somebody_else_is_used_beside_them(own_postgres: str) -> None:
    admin(own_postgres, "CREATE TABLE holidays (day date)", "CREATE TABLE alembic_version (x int)")

    PostgresDatabase(own_postgres, clock=FakeClock(), sweep=_nothing, max_rows=10).close()
    assert admin(own_postgres, "SELECT count(*) FROM holidays") == [(0,)]


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("postgresql://127.0.0.1:1/board", "Connection refused"),
        ("postgresql://?host=/nowhere", "No such file or directory"),
        ("postgresql://[::1/board", "opened: .*]"),
    ],
    ids=["refused", "no socket", "no address"],
)
def test_a_database_that_cannot_be_reached_is_one_clear_line(address: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as caught:
        open_storage(address)

    assert str(caught.value).startswith("The database cannot be opened: ")
    assert "PEGBOARD_DATABASE" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_database_that_cannot_keep_every_text_is_refused(own_server: Any) -> None:
    address: str = own_server.get_uri()
    admin(
        address,
        "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'",
    )
    with pytest.raises(ConfigError, match="it is encoded in LATIN1: make one with CREATE DATABASE"):
        open_storage(address.replace("/postgres?", "/latin?"))
    admin(address, "DROP DATABASE latin WITH (FORCE)")


async def test_text_that_postgresql_cannot_hold_is_spelt_out(
    postgres: str, clock: FakeClock
) -> None:
    async with open_storage(postgres, clock=clock) as storage:
        await storage.journal.record_start(a_start("w\x00\ud800", tool="sh\x00p"))
        await storage.outcomes.claim(an_outcome("k\x00"))
        taken = await storage.outcomes.claim(an_outcome("k\x00"))
        calls = await ids(storage, tool="sh\x00p")

    assert taken == an_outcome("k\x00")
    assert calls == ["w\x00\\ud800"]


async def test_operations_in_each_others_way_are_tried_again(
    postgres: str, clock: FakeClock
) -> None:
    async with open_storage(postgres, clock=clock) as storage:
        await storage.results.put(a_result("one"))
        await storage.results.put(a_result("two"))
        met = threading.Barrier(2)
        tries: list[str] = []

        def crossing(first: str, second: str) -> Any:
            def cross(transaction: Transaction) -> None:
                tries.append(first)
                update = "UPDATE results SET name = name || 'x' WHERE handle = :handle"
                transaction.execute(text(update), {"handle": first})
                if len(tries) <= 2:
                    met.wait(60)
                transaction.execute(text(update), {"handle": second})

            return cross

        database = database_of(storage)
        async with asyncio.TaskGroup() as group:
            group.create_task(database.run(crossing("one", "two")))
            group.create_task(database.run(crossing("two", "one")))
        result = await storage.results.get("one", "acme/ada")

    assert len(tries) >= 3
    assert result is not None
    assert result.name == "rows.jsonxx"


async def test_an_operation_at_fault_itself_is_not_tried_again(
    postgres: str, clock: FakeClock
) -> None:
    tries: list[int] = []

    def faulty(transaction: Transaction) -> None:
        tries.append(1)
        transaction.execute(text("INSERT INTO plans (id, body) VALUES ('p', NULL)"))

    def surprise(transaction: Transaction) -> None:
        raise LookupError("surprise")

    async with open_storage(postgres, clock=clock) as storage:
        with pytest.raises(Unavailable, match="cannot be read or written") as caught:
            await database_of(storage).run(faulty)
        with pytest.raises(LookupError, match="surprise"):
            await database_of(storage).run(surprise)

    assert len(tries) == 1
    assert caught.value.nothing_done
    assert isinstance(caught.value.__cause__, psycopg.errors.NotNullViolation)


async def test_too_many_at_once_are_told_to_come_back(
    postgres: str, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_WAITING", 10)
    hold = threading.Event()
    async with open_storage(postgres, clock=clock) as storage:
        database = database_of(storage)
        waiting = [asyncio.ensure_future(database.run(lambda _: hold.wait(60))) for _ in range(10)]
        await asyncio.sleep(0)
        with pytest.raises(Overloaded, match="is overloaded"):
            await storage.results.get("x", "y")
        hold.set()
        await asyncio.wait(waiting)
        await storage.results.get("x", "y")


async def test_a_history_can_be_read_by_its_address(postgres: str, clock: FakeClock) -> None:
    async with open_storage(postgres, clock=clock) as storage:
        storage.listener.on_event(a_record("c1"))
    async with open_history(postgres) as history:
        page = await history.calls(HistoryQuery())

    assert [row["call_id"] for row in page.calls] == ["c1"]


async def test_keys_are_shared_by_servers(postgres: str, clock: FakeClock, tmp_path: Path) -> None:
    async with (
        open_storage(postgres, clock=clock) as one,
        open_storage(postgres, clock=clock) as two,
    ):
        async with asyncio.TaskGroup() as group:
            claims = [
                group.create_task(server.outcomes.claim(an_outcome())) for server in [one, two] * 20
            ]
        await one.outcomes.settle(an_outcome(), ToolResult(content="done"))
        settled = await two.outcomes.claim(an_outcome())

    assert [claim.result() for claim in claims].count(None) == 1
    assert settled is not None
    assert settled.result == ToolResult(content="done")


async def test_what_is_appended_is_there_after_the_end(postgres: str, clock: FakeClock) -> None:
    async with open_storage(postgres, clock=clock) as storage:
        for number in range(1_200):
            storage.listener.on_event(a_record(f"c{number}"))
        await storage.audit.append([AuditEntry(kind="k", at=NOON, body={})])
    async with open_storage(postgres, clock=clock) as storage:
        await storage.flush()
        found = await database_of(storage).read(
            lambda transaction: transaction.all(text("SELECT count(*) FROM calls"))
        )

    assert found == [(1_200,)]


def _nothing(transaction: Transaction) -> None:
    """Nothing to sweep."""
