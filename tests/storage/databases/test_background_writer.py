"""Rows that nobody waits for, while the database is there, gone, or refuses one of them."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from pegboard.errors import Unavailable
from pegboard.storage.databases.background_writer import BackgroundWriter
from pegboard.storage.databases.transaction import Rows, Transaction
from pegboard.testing import FakeClock

NO_TRANSACTION = cast("Transaction", None)


class Database:
    """Commits rows into a list, whole transactions at a time."""

    def __init__(self) -> None:
        self.committed: list[str] = []
        self.transactions = 0
        self.open: list[str] = []
        self.is_gone = False

    def transact(self, operation: Rows) -> None:
        if self.is_gone:
            raise Unavailable("The storage is unavailable.", nothing_done=True)
        self.transactions += 1
        self.open = []
        operation(NO_TRANSACTION)
        self.committed += self.open

    def row(self, name: str) -> Rows:
        def write(transaction: Transaction) -> None:
            if name == "bad":
                raise LookupError(name)
            self.open.append(name)

        return write


@pytest.fixture
def database() -> Database:
    return Database()


Make = Callable[..., BackgroundWriter]


@pytest.fixture
def make(database: Database, clock: FakeClock) -> Iterator[Make]:
    made: list[BackgroundWriter] = []

    def make(**options: Any) -> BackgroundWriter:
        fields: dict[str, Any] = {"clock": clock, "sweep": database.row("sweep"), "max_rows": 100}
        made.append(BackgroundWriter(database.transact, **(fields | options)))
        return made[-1]

    yield make
    for outbox in made:
        outbox.close()


def held(outbox: BackgroundWriter) -> tuple[threading.Event, threading.Event]:
    """A row on the way: set when its writing has begun, and to be set for it to go on."""
    busy, go_on = threading.Event(), threading.Event()

    def write(_: Transaction) -> None:
        busy.set()
        go_on.wait(60)

    outbox.post(write)
    return busy, go_on


async def test_rows_are_written_in_order_and_together(database: Database, make: Make) -> None:
    outbox = make()
    for number in range(20):
        outbox.post(database.row(str(number)))
    await outbox.flush()

    assert database.committed == [str(number) for number in range(20)]
    assert database.transactions < 10


async def test_rows_are_written_without_being_asked_for(database: Database, make: Make) -> None:
    outbox = make()
    outbox.post(database.row("a"))
    while not database.committed:  # noqa: ASYNC110 - a thread sets no asyncio event
        await asyncio.sleep(0.01)

    assert database.committed == ["a"]


async def test_one_row_at_fault_costs_no_other(database: Database, make: Make) -> None:
    outbox = make()
    for name in ("a", "bad", "b"):
        outbox.post(database.row(name))
    await outbox.flush()

    assert database.committed == ["a", "b"]
    assert outbox.dropped == 1


async def test_rows_wait_until_the_database_is_back(database: Database, make: Make) -> None:
    outbox = make()
    database.is_gone = True
    for name in ("a", "b"):
        outbox.post(database.row(name))
    with pytest.raises(Unavailable, match="unavailable"):
        await outbox.flush()
    outbox.post(database.row("c"))
    database.is_gone = False
    await outbox.flush()

    assert database.committed == ["a", "b", "c"]
    assert outbox.dropped == 0


async def test_what_does_not_fit_is_dropped_unless_it_has_to_be_kept(
    database: Database, make: Make
) -> None:
    outbox = make(max_rows=2)
    busy, hold = held(outbox)
    await asyncio.to_thread(busy.wait, 60)
    for name in "abcd":
        outbox.post(database.row(name))
    outbox.post(database.row("kept"), keep=True)
    hold.set()
    await outbox.flush()

    assert database.committed == ["a", "b", "kept"]
    assert outbox.dropped == 2


async def test_what_waits_is_written_at_the_end(database: Database, make: Make) -> None:
    outbox = make()
    outbox.post(database.row("a"))
    await asyncio.to_thread(outbox.close)
    outbox.post(database.row("late"))

    assert database.committed == ["a"]
    assert outbox.dropped == 1
    with pytest.raises(Unavailable, match="closed"):
        await outbox.flush()


async def test_what_cannot_be_written_at_the_end_is_counted(
    database: Database, make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    outbox = make()
    database.is_gone = True
    outbox.post(database.row("a"))
    await asyncio.to_thread(outbox.close)

    assert outbox.dropped == 1
    assert "was unreachable at shutdown" in caplog.text


async def test_whoever_waits_no_more_is_not_told(database: Database, make: Make) -> None:
    outbox = make()
    busy, hold = held(outbox)
    first = asyncio.ensure_future(outbox.flush())
    await asyncio.to_thread(busy.wait, 60)
    first.cancel()
    second = asyncio.ensure_future(outbox.flush())
    await asyncio.sleep(0)
    second.cancel()
    hold.set()
    await outbox.flush()

    assert first.cancelled()


async def test_what_has_expired_is_swept_without_being_asked(
    database: Database, make: Make, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    outbox = make()
    clock.advance(60)
    await outbox.flush()
    await outbox.flush()
    database.is_gone = True
    clock.advance(60)
    await outbox.flush()
    await outbox.flush()

    assert database.committed == ["sweep"]
    assert "trying again later" in caplog.text


async def test_rows_that_cannot_be_written_are_reported(
    database: Database, make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    outbox = make()
    database.is_gone = True
    outbox.post(database.row("a"))
    with pytest.raises(Unavailable):
        await outbox.flush()

    assert str(outbox.problem) == "The storage is unavailable."
    assert "storage: a write failed: The storage is unavailable." in caplog.text
