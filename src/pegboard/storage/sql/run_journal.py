"""What happens in runs, in a database: steps, signals, events, and how a run is suspended."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Row, insert, select, update

from pegboard.core.ports.clock import Clock
from pegboard.core.ports.durability import Signal
from pegboard.core.ports.run_store import RunEvent, StoredSignal, StoredStep
from pegboard.core.record_snapshot import clean_text
from pegboard.core.run import RunResult
from pegboard.storage.brief_runs import shorten_result
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.port import lease_lost_error
from pegboard.storage.tables import RUN_EVENTS, RUN_SIGNALS, RUN_STEPS, RUNS


class SqlRunJournal:
    """The part of a `RunStore` that is written while a run is executed."""

    def __init__(self, database: StorageDatabase, *, clock: Clock) -> None:
        """Keep it there."""
        self._database = database
        self._clock = clock

    async def store_result(
        self,
        result: RunResult,
        owner: str,
        *,
        last_signal: int = 0,
        wake_at: float | None = None,
    ) -> bool:
        body, now = dump(result), self._clock.time()
        brief = shorten_result(result, body)
        pending = (
            select(RUN_SIGNALS.c.number)
            .where(
                RUN_SIGNALS.c.run_id == clean_text(result.run_id),
                RUN_SIGNALS.c.number > last_signal,
            )
            .limit(1)
        )

        def rest(transaction: Transaction) -> bool:
            _check_lease(transaction, result.run_id, owner)
            changes: dict[str, Any] = {"result": body, "brief_result": brief}
            changes |= {"brief_state": None if brief is None else result.state}
            goes_on = not result.state.is_final and transaction.first(pending) is not None
            if not goes_on:
                changes |= {"state": result.state, "lease_owner": "", "lease_until": None}
                changes |= {"wake_at": None if result.state.is_final else wake_at}
                changes |= {"finished_at": now if result.state.is_final else None}
            _change(transaction, result.run_id, changes)
            return not goes_on

        return await self._database.run(rest)

    async def reserve(
        self, run_id: str, path: str, owner: str, *, takes: str = ""
    ) -> StoredStep | None:
        values = {
            "run_id": clean_text(run_id),
            "path": clean_text(path),
            "started_at": self._clock.time(),
            "finished_at": None,
            "value": "",
        }

        def reserve(transaction: Transaction) -> StoredStep | None:
            _check_lease(transaction, run_id, owner)
            statement = transaction.insert(RUN_STEPS).values(values)
            if transaction.execute(
                statement.on_conflict_do_nothing(index_elements=["run_id", "path"])
            ):
                _take(transaction, run_id, takes, path)
                return None
            there = select(RUN_STEPS).where(
                RUN_STEPS.c.run_id == values["run_id"], RUN_STEPS.c.path == values["path"]
            )
            return _step(transaction.all(there)[0])

        return await self._database.run(reserve)

    async def record(
        self,
        run_id: str,
        step: StoredStep,
        owner: str,
        *,
        takes: str = "",
    ) -> None:
        outcome = {"finished_at": step.finished_at, "value": dump(step.value)}
        values = {
            "run_id": clean_text(run_id),
            "path": clean_text(step.path),
            "started_at": step.started_at,
            **outcome,
        }

        def record(transaction: Transaction) -> None:
            _check_lease(transaction, run_id, owner)
            statement = transaction.insert(RUN_STEPS).values(values)
            transaction.execute(
                statement.on_conflict_do_update(index_elements=["run_id", "path"], set_=outcome)
            )
            _take(transaction, run_id, takes, step.path)

        await self._database.run(record)

    async def steps(self, run_id: str) -> Sequence[StoredStep]:
        wanted = select(RUN_STEPS).where(RUN_STEPS.c.run_id == clean_text(run_id))
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        return sorted((_step(row) for row in rows), key=lambda step: step.path)

    async def signal(self, run_id: str, signal: Signal) -> bool | None:
        now = self._clock.time()
        values = {
            "run_id": clean_text(run_id),
            "id": clean_text(signal.id),
            "taken_by": "",
            "body": dump(signal),
        }

        def send(transaction: Transaction) -> bool | None:
            # The run is locked first: so the numbers of its signals come in the order of commits.
            row = _lock_run(transaction, run_id)
            if row is None:
                return None
            statement = transaction.insert(RUN_SIGNALS).values(values)
            is_new = transaction.execute(
                statement.on_conflict_do_nothing(index_elements=["run_id", "id"])
            )
            if is_new and row.finished_at is None:
                _change(transaction, run_id, {"wake_at": now})
            return bool(is_new)

        return await self._database.run(send)

    async def signals(self, run_id: str, *, after: int = 0) -> Sequence[StoredSignal]:
        wanted = (
            select(RUN_SIGNALS)
            .where(RUN_SIGNALS.c.run_id == clean_text(run_id), RUN_SIGNALS.c.number > after)
            .order_by(RUN_SIGNALS.c.number)
        )
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        return [
            StoredSignal(number=row.number, signal=load(row.body, Signal), taken_by=row.taken_by)
            for row in rows
        ]

    async def emit(self, run_id: str, events: Sequence[RunEvent]) -> int:
        kept = tuple(events)

        def emit(transaction: Transaction) -> int:
            row = _lock_run(transaction, run_id)
            if row is None:
                return 0
            last = _emit(transaction, row, kept)
            _change(transaction, run_id, {"last_event": last})
            return last

        return await self._database.run(emit)

    async def events(self, run_id: str, *, after: int = 0, limit: int = 500) -> Sequence[RunEvent]:
        wanted = (
            select(RUN_EVENTS.c.body)
            .where(RUN_EVENTS.c.run_id == clean_text(run_id), RUN_EVENTS.c.sequence > after)
            .order_by(RUN_EVENTS.c.sequence)
            .limit(limit)
        )
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        return [load(row.body, RunEvent) for row in rows]


def _lock_run(transaction: Transaction, run_id: str) -> Row[Any] | None:
    return transaction.first(
        select(RUNS.c.id, RUNS.c.lease_owner, RUNS.c.last_event, RUNS.c.finished_at)
        .where(RUNS.c.id == clean_text(run_id))
        .with_for_update()
    )


def _check_lease(transaction: Transaction, run_id: str, owner: str) -> Row[Any]:
    """Lock the run and check that this owner has its lease.

    Raises:
        Unavailable: Another worker has it.
    """
    row = _lock_run(transaction, run_id)
    if row is None or row.lease_owner != clean_text(owner):
        raise lease_lost_error(run_id)
    return row


def _change(transaction: Transaction, run_id: str, changes: dict[str, Any]) -> None:
    transaction.execute(update(RUNS).where(RUNS.c.id == clean_text(run_id)).values(changes))


def _emit(transaction: Transaction, run: Row[Any], events: Sequence[RunEvent]) -> int:
    """Append events to a run; return the sequence of the last one."""
    rows = [
        {"run_id": run.id, "sequence": number, "body": dump(replace(event, sequence=number))}
        for number, event in enumerate(events, run.last_event + 1)
    ]
    if rows:
        transaction.execute(insert(RUN_EVENTS), rows)
    return run.last_event + len(rows)


def _take(transaction: Transaction, run_id: str, signal_id: str, path: str) -> None:
    if signal_id:
        transaction.execute(
            update(RUN_SIGNALS)
            .where(
                RUN_SIGNALS.c.run_id == clean_text(run_id),
                RUN_SIGNALS.c.id == clean_text(signal_id),
            )
            .values(taken_by=clean_text(path))
        )


def _step(row: Row[Any]) -> StoredStep:
    return StoredStep(
        path=row.path,
        started_at=row.started_at,
        finished_at=row.finished_at,
        value=None if row.finished_at is None else load(row.value, object),
    )
