"""Threads, connections and deadlines, with sessions that do as they are told."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pytest
from tests.sources.sql.boards import until

from pegboard.concurrency.thread_pool import POOL
from pegboard.errors import (
    InvalidRequest,
    Overloaded,
    PegboardError,
    SourceUnavailable,
    ToolTimeout,
)
from pegboard.sources.sql.catalog import Table
from pegboard.sources.sql.client import DatabaseClient
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.database import SqlDatabase
from pegboard.sources.sql.driver import (
    DatabaseSession,
    StaleConnection,
    StatementRequest,
    StatementResult,
)


class Trouble(Exception):
    """What this driver raises."""


class Scripted:
    """A session whose `ping` does what its script says."""

    def __init__(self, script: Callable[["Scripted"], None]) -> None:
        self.script = script
        self.usable = True
        self.closed = 0
        self.aborted = threading.Event()

    def ping(self, deadline: float) -> None:
        del deadline
        self.script(self)

    def tables(self, deadline: float) -> tuple[Sequence[Table], Sequence[str]]:
        self.ping(deadline)
        return [Table(schema="main", name="t")], ()

    def read(self, request: StatementRequest) -> StatementResult:
        self.ping(request.deadline)
        return StatementResult(rows=[[request.sql]], columns=[("sql", "text")])

    def write(self, request: StatementRequest, most: int) -> StatementResult:
        raise InvalidRequest(f"{request.sql} {most}")

    def abort(self) -> None:
        self.usable = False
        self.aborted.set()

    def close(self) -> None:
        self.closed += 1


class ScriptedDriver:
    """Opens scripted sessions and counts them."""

    errors: ClassVar[tuple[type[Exception], ...]] = (Trouble,)

    def __init__(self, *scripts: Callable[[Scripted], None]) -> None:
        self.scripts = list(scripts)
        self.opened: list[Scripted] = []

    def connect(self, *, write: bool) -> DatabaseSession:
        del write
        script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
        session = Scripted(script)
        self.opened.append(session)
        return session

    def translate(self, error: Exception, request: StatementRequest | None) -> PegboardError:
        return InvalidRequest(f"{error} in {'nothing' if request is None else request.sql}")


def _config(**settings: Any) -> SqlConfig:
    return SqlConfig.model_validate({"url": "sqlite:///x.db", **settings})


def _fine(session: Scripted) -> None:
    del session


def _fails(session: Scripted) -> None:
    del session
    raise Trouble("broken")


def _stale(session: Scripted) -> None:
    session.usable = False
    raise StaleConnection


def _hangs(session: Scripted) -> None:
    session.aborted.wait(60)
    raise Trouble("cut")


async def test_a_connection_is_used_again() -> None:
    driver = ScriptedDriver(_fine)
    client = DatabaseClient(driver, _config(), owner="shop")

    for _ in range(3):
        await client.ping(1)
    await client.close()

    assert [session.closed for session in driver.opened] == [1]


async def test_an_error_of_the_driver_is_translated_with_its_cause() -> None:
    client = DatabaseClient(ScriptedDriver(_fails), _config(), owner="shop")

    with pytest.raises(InvalidRequest, match="broken in nothing") as failed:
        await client.ping(1)

    assert isinstance(failed.value.__cause__, Trouble)


async def test_a_connection_that_went_stale_is_replaced_once() -> None:
    driver = ScriptedDriver(_stale, _fine)
    await DatabaseClient(driver, _config(), owner="shop").ping(1)

    assert [session.closed for session in driver.opened] == [1, 0]


async def test_a_database_that_drops_every_connection_is_unavailable() -> None:
    driver = ScriptedDriver(_stale)

    with pytest.raises(SourceUnavailable, match="closes each connection immediately"):
        await DatabaseClient(driver, _config(), owner="shop").ping(1)

    assert len(driver.opened) == 2


@pytest.mark.timeout(60)
async def test_a_call_that_hangs_is_cut_soon_after_its_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pegboard.sources.sql.client._GRACE_SECONDS", 1.0)
    driver = ScriptedDriver(_hangs, _fine)
    client = DatabaseClient(driver, _config(), owner="shop")
    started = time.monotonic()

    with pytest.raises(ToolTimeout, match="did not answer in time"):
        await client.ping(0.1)

    assert 1.0 < time.monotonic() - started < 50  # it would hang for a minute
    assert driver.opened[0].aborted.is_set()
    await client.ping(60)
    assert len(driver.opened) == 2


async def test_a_call_that_is_cancelled_is_cut_at_once() -> None:
    driver = ScriptedDriver(_hangs)
    task = asyncio.create_task(DatabaseClient(driver, _config(), owner="shop").ping(60))
    await until(lambda: bool(driver.opened))
    task.cancel()
    await asyncio.wait({task}, timeout=40)

    assert task.cancelled()
    assert driver.opened[0].aborted.is_set()


@pytest.mark.timeout(60)
async def test_one_that_finds_no_connection_free_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pegboard.sources.sql.client._GRACE_SECONDS", 1.0)
    driver = ScriptedDriver(_hangs)
    client = DatabaseClient(driver, _config(max_connections=1), owner="shop")
    first = asyncio.create_task(client.ping(60))
    await until(lambda: bool(driver.opened))

    with pytest.raises(Overloaded, match="are busy"):
        await client.ping(0)

    first.cancel()
    await asyncio.wait({first})


async def test_closing_cuts_what_runs_and_opens_nothing_more() -> None:
    driver = ScriptedDriver(_hangs)
    client = DatabaseClient(driver, _config(), owner="shop")
    running = asyncio.create_task(client.ping(60))
    await until(lambda: bool(driver.opened))
    await client.close()
    await client.close()

    with pytest.raises(InvalidRequest, match="cut"):
        await running
    with pytest.raises(SourceUnavailable, match="closed"):
        await client.ping(1)
    assert [session.closed for session in driver.opened] == [1]


async def test_the_schema_is_read_again_only_when_it_is_old() -> None:
    driver = ScriptedDriver(_fine)
    database = SqlDatabase(_config(), DatabaseClient(driver, _config(), owner="shop"))

    first = await database.catalog()
    second = await database.catalog()
    third = await database.catalog(max_age=0.0)

    assert first is second
    assert third is not first
    assert database.known is third


async def test_a_write_goes_to_a_connection_of_its_own() -> None:
    driver = ScriptedDriver(_fine)
    config = _config(allow_writes=True, max_affected_rows=7)
    database = SqlDatabase(config, DatabaseClient(driver, config, owner="shop"))

    with pytest.raises(InvalidRequest, match="DELETE FROM t 7"):
        await database.execute("DELETE FROM t")

    assert len(driver.opened) == 2


async def test_work_of_one_source_leaves_threads_to_others() -> None:
    gate = threading.Event()
    held = [asyncio.create_task(POOL.run(gate.wait, owner="shop")) for _ in range(POOL.share)]
    waiting = asyncio.create_task(
        DatabaseClient(ScriptedDriver(_fine), _config(), owner="shop").ping(60)
    )
    try:
        await asyncio.sleep(0)
        await DatabaseClient(ScriptedDriver(_fine), _config(), owner="other").ping(60)
        assert not waiting.done()
    finally:
        gate.set()
        await asyncio.gather(waiting, *held)
