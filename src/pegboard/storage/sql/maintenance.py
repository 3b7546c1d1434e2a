"""Counts open items of a database and deletes expired rows."""

import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence

from sqlalchemy import (
    ColumnElement,
    delete,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    union,
)

from pegboard.core.ports.clock import Clock
from pegboard.core.ports.maintenance import Counts, QuotePlaces
from pegboard.core.record_snapshot import clean_text
from pegboard.core.result import RESULT_URI
from pegboard.core.run_event import RUN_ERROR_IDS
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.history_rows import UNKNOWN
from pegboard.storage.tables import (
    APPROVALS,
    CALLS,
    ERROR_DETAILS,
    EXCHANGES,
    OUTCOMES,
    PLANS,
    RESULTS,
    RUN_EVENTS,
    RUN_STEPS,
    RUNS,
)

_CHUNK = 500
"""Rows that one transaction deletes: others write in between."""

_HANDLE = re.compile(rf"{re.escape(RESULT_URI)}((?:[0-9a-f]{{24}}(?:-p[0-9]{{1,15}})?)?)([\w-]*)")
"""A handle as this package makes it, and what follows it where it may be another one."""
_SETTLED = ("used", "expired", "withdrawn")


class SqlUpkeep:
    """The `Upkeep` of a database. Rows that another server is deleting are skipped."""

    def __init__(self, database: StorageDatabase, *, clock: Clock) -> None:
        """Maintain this database."""
        self._database = database
        self._clock = clock

    async def counts(self) -> Counts:
        now = self._clock.time()
        runs = (
            select(RUNS.c.state, func.count().label("number"))
            .where(RUNS.c.finished_at.is_(None))
            .group_by(RUNS.c.state)
        )
        pending = select(func.count()).where(
            APPROVALS.c.state == "pending",
            or_(APPROVALS.c.expires_at.is_(None), APPROVALS.c.expires_at > now),
        )

        def count(transaction: Transaction) -> Counts:
            by_state = {row.state: row.number for row in transaction.all(runs)}
            row = transaction.first(pending)
            return Counts(runs=by_state, approvals=0 if row is None else row[0])

        return await self._database.read(count)

    async def forget_results(self, text: str) -> int:
        def forget(transaction: Transaction) -> int:
            count = transaction.execute(delete(OUTCOMES).where(OUTCOMES.c.result.contains(text)))
            if transaction.database == "sqlite":
                holds = func.instr(RESULTS.c.body, text.encode()) > 0
            else:
                holds = func.position(literal(text.encode()).op("IN")(RESULTS.c.body)) > 0
            return count + transaction.execute(delete(RESULTS).where(holds))

        return await self._database.run(forget, atomic=True)

    async def find_quoting(self, text: str, *, since: float = 0.0) -> QuotePlaces:
        is_read = or_(RUNS.c.finished_at.is_(None), RUNS.c.finished_at >= since)
        read = select(RUNS.c.id).where(is_read)
        in_runs = union(
            read.where(or_(RUNS.c.body.contains(text), RUNS.c.result.contains(text))),
            select(RUN_STEPS.c.run_id).where(
                RUN_STEPS.c.run_id.in_(read), RUN_STEPS.c.value.contains(text)
            ),
            select(RUN_EVENTS.c.run_id).where(
                RUN_EVENTS.c.run_id.in_(read), RUN_EVENTS.c.body.contains(text)
            ),
        )
        in_exchanges = (
            select(EXCHANGES.c.conversation).where(EXCHANGES.c.body.contains(text)).distinct()
        )

        def find(transaction: Transaction) -> QuotePlaces:
            return QuotePlaces(
                runs=tuple(row[0] for row in transaction.all(in_runs)),
                conversations=tuple(row[0] for row in transaction.all(in_exchanges)),
            )

        return await self._database.read(find)

    async def find_started_with(self, words: Sequence[str], *, since: float) -> Sequence[str]:
        wanted = select(RUNS.c.id).where(
            RUNS.c.created_at >= since, *(RUNS.c.body.contains(word) for word in words)
        )
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        return [row.id for row in rows]

    async def forget_calls_of(self, runs: Collection[str]) -> int:
        ids = [clean_text(run) for run in runs]
        named = select(RUN_STEPS.c.value).where(
            RUN_STEPS.c.run_id.in_(ids), RUN_STEPS.c.value.contains(RESULT_URI)
        )

        def forget(transaction: Transaction) -> int:
            steps = [row.value for row in transaction.all(named)]
            handles = sorted({handle for step in steps for handle in _find_handles(step)})
            count = transaction.execute(delete(APPROVALS).where(APPROVALS.c.run_id.in_(ids)))
            count += transaction.execute(delete(OUTCOMES).where(_is_of_runs(transaction, ids)))
            for at in range(0, len(handles), _CHUNK):
                wanted = RESULTS.c.handle.in_(handles[at : at + _CHUNK])
                count += transaction.execute(delete(RESULTS).where(wanted))
            return count

        return await self._database.run(forget, atomic=True)

    async def forget_calls(self, *, before: float) -> int:
        old = (
            select(CALLS.c.id, CALLS.c.body)
            # A literal, as in the partial index of those that stay.
            .where(CALLS.c.started_at < before, CALLS.c.status != literal_column(f"'{UNKNOWN}'"))
            .order_by(CALLS.c.started_at, CALLS.c.id)
            .limit(_CHUNK)
            .with_for_update(skip_locked=True)
        )

        def forget(transaction: Transaction) -> int:
            rows = transaction.all(old)
            errors = [error for row in rows if (error := json.loads(row.body).get("error_id"))]
            if errors:
                transaction.execute(
                    delete(ERROR_DETAILS).where(ERROR_DETAILS.c.error_id.in_(errors))
                )
            if rows:
                ids = [row.id for row in rows]
                transaction.execute(delete(CALLS).where(CALLS.c.id.in_(ids)))
            return len(rows)

        await self._database.run(lambda transaction: _forget_run_errors(transaction, before))
        return await self._all(lambda: self._database.run(forget))

    async def forget_plans(self, *, before: float) -> int:
        old = (
            select(PLANS.c.id)
            .where(
                PLANS.c.created_at < before,
                PLANS.c.created_at > 0,  # else nobody has said when it was made
                ~exists().where(RUNS.c.plan_id == PLANS.c.id),
            )
            .order_by(PLANS.c.created_at, PLANS.c.id)
            .limit(_CHUNK)
            .with_for_update(skip_locked=True)
        )

        def forget(transaction: Transaction) -> int:
            ids = [row.id for row in transaction.all(old)]
            if ids:
                transaction.execute(delete(PLANS).where(PLANS.c.id.in_(ids)))
            return len(ids)

        return await self._all(lambda: self._database.run(forget))

    async def forget_approvals(self, *, before: float) -> int:
        # Whatever is open or was denied holds until it expires, and for ever where it does not.
        old = (
            select(APPROVALS.c.number)
            .where(
                APPROVALS.c.created_at < before,
                or_(APPROVALS.c.state.in_(_SETTLED), APPROVALS.c.expires_at < before),
            )
            .order_by(APPROVALS.c.created_at, APPROVALS.c.number)
            .limit(_CHUNK)
            .with_for_update(skip_locked=True)
        )

        def forget(transaction: Transaction) -> int:
            numbers = [row.number for row in transaction.all(old)]
            if numbers:
                transaction.execute(delete(APPROVALS).where(APPROVALS.c.number.in_(numbers)))
            return len(numbers)

        return await self._all(lambda: self._database.run(forget))

    async def _all(self, forget: Callable[[], Awaitable[int]]) -> int:
        """Delete in chunks until one is not full."""
        forgotten = 0
        while True:
            number = await forget()
            forgotten += number
            if number < _CHUNK:
                return forgotten


def _find_handles(text: str) -> Iterator[str]:
    """The handles of stored results that a text names."""
    for match in _HANDLE.finditer(text):
        yield match.group()
        if match[1]:
            yield RESULT_URI + match[1]


def _is_of_runs(transaction: Transaction, ids: Sequence[str]) -> "ColumnElement[bool]":
    """The condition that an idempotency key, `run:step:...`, is of one of these runs.

    One pass compares the runs of all keys; a run whose id has the separator in it needs one of its
    own.
    """
    key = OUTCOMES.c.key
    if transaction.database == "sqlite":
        run = func.substr(key, 1, func.instr(key, ":") - 1)
    else:
        run = func.split_part(key, ":", 1)
    odd = [id_ for id_ in ids if ":" in id_]
    return or_(run.in_(ids), *(key.startswith(f"{id_}:", autoescape=True) for id_ in odd))


def _forget_run_errors(transaction: Transaction, before: float) -> None:
    """Delete the details of errors of runs that are older; few runs have any."""
    columns = ERROR_DETAILS.c
    known = select(columns.error_id, columns.body).where(
        columns.error_id.startswith(RUN_ERROR_IDS, autoescape=True)
    )
    old = [row.error_id for row in transaction.all(known) if json.loads(row.body)["at"] < before]
    for at in range(0, len(old), _CHUNK):
        transaction.execute(
            delete(ERROR_DETAILS).where(columns.error_id.in_(old[at : at + _CHUNK]))
        )
