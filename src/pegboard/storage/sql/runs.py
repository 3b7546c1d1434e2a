"""Plans and runs in a database, and their leases."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import structs
from sqlalchemy import Row, Select, and_, case, delete, func, or_, select, tuple_, update

from pegboard.core.graph import NodeState
from pegboard.core.pagination import check_page_size, decode_position, encode_cursor
from pegboard.core.ports.durability import RunStart
from pegboard.core.ports.run_store import LEASE, RunPage, RunQuery, StoredPlan, StoredRun
from pegboard.core.record_snapshot import clean_text
from pegboard.core.run import RunResult
from pegboard.errors import InvalidRequest
from pegboard.storage.brief_runs import shorten_start
from pegboard.storage.columns import is_in_index
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.port import GOES_ON
from pegboard.storage.sql.run_journal import SqlRunJournal
from pegboard.storage.tables import PLANS, RUN_EVENTS, RUN_SIGNALS, RUN_STEPS, RUNS

_CHUNK = 200
"""Runs that one transaction deletes: others write in between, and no statement takes long."""


_BODY = func.coalesce(RUNS.c.brief_body, RUNS.c.body)
# an older server beside this one stores how a run ends, and leaves its brief result as it was
_HAS_BRIEF_RESULT = and_(
    RUNS.c.brief_result.is_not(None),
    or_(RUNS.c.finished_at.is_(None), RUNS.c.brief_state == RUNS.c.state),
)
_RESULT = case((_HAS_BRIEF_RESULT, RUNS.c.brief_result), else_=RUNS.c.result)
_SHOWN = (
    *(column for column in RUNS.c if column.name not in {"body", "result"}),
    _BODY.label("body"),
    _RESULT.label("result"),
    or_(RUNS.c.brief_body.is_not(None), _HAS_BRIEF_RESULT).label("is_brief"),
)
"""What a page has of a run: large values are not even read."""


class SqlRuns(SqlRunJournal):
    """The `RunStore` of a database."""

    async def put_plan(self, plan: StoredPlan) -> None:
        id_, body = clean_text(plan.id), dump(plan)
        new = {"id": id_, "body": body, "created_at": plan.created_at}

        def put(transaction: Transaction) -> StoredPlan | None:
            statement = transaction.insert(PLANS).values(new)
            transaction.execute(statement.on_conflict_do_nothing(index_elements=["id"]))
            return _plan(transaction, plan.id)

        if await self._database.run(put) != load(body, StoredPlan):
            raise InvalidRequest(
                f"another plan has the id '{plan.id}': give this one a different id"
            )

    async def plan(self, id: str) -> StoredPlan | None:  # noqa: A002 - it is known by its id
        return await self._database.read(lambda transaction: _plan(transaction, id))

    async def create(
        self, start: RunStart, *, plan_id: str = "", owner: str = "", seconds: float = LEASE
    ) -> bool:
        body = dump(start)
        values = {
            "id": clean_text(start.run_id),
            "plan_id": clean_text(plan_id),
            "state": NodeState.IN_PROGRESS if owner else NodeState.PENDING,
            "principal": clean_text(start.principal.id),
            "tenant": clean_text(start.principal.tenant),
            "created_at": start.created_at,
            "lease_owner": clean_text(owner),
            "lease_until": self._clock.time() + seconds if owner else None,
            "last_event": 0,
            "body": body,
            "brief_body": shorten_start(start, body),
        }

        def create(transaction: Transaction) -> bool:
            statement = transaction.insert(RUNS).values(values)
            return bool(
                transaction.execute(statement.on_conflict_do_nothing(index_elements=["id"]))
            )

        return await self._database.run(create)

    async def get(self, id: str) -> StoredRun | None:  # noqa: A002 - it is known by its id
        wanted = select(RUNS).where(RUNS.c.id == clean_text(id))
        row = await self._database.read(lambda transaction: transaction.first(wanted))
        return None if row is None else _run(row)

    async def get_all(self, ids: Collection[str]) -> Mapping[str, StoredRun]:
        wanted = select(RUNS).where(RUNS.c.id.in_([clean_text(id_) for id_ in ids]))
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        return {row.id: _run(row) for row in rows}

    async def find_unfinished(self, ids: Collection[str]) -> frozenset[str]:
        names = {clean_text(id_): id_ for id_ in ids}
        wanted = select(RUNS.c.id).where(RUNS.c.id.in_(names), RUNS.c.finished_at.is_(None))
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        return frozenset(names[row.id] for row in rows)

    async def runs(self, query: RunQuery) -> RunPage:
        limit = check_page_size(query.limit)
        wanted = select_runs(query).limit(limit + 1)
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        page = rows[:limit]
        more = len(rows) > limit
        return RunPage(
            runs=[structs.replace(_run(row), is_brief=row.is_brief) for row in page],
            next_cursor=encode_cursor(page[-1].created_at, page[-1].number) if more else "",
        )

    async def take(self, owner: str, *, seconds: float = LEASE) -> StoredRun | None:
        now = self._clock.time()
        wanted = (
            select(RUNS)
            .where(
                RUNS.c.finished_at.is_(None),
                or_(RUNS.c.lease_owner == "", RUNS.c.lease_until <= now),
                or_(RUNS.c.state.in_(GOES_ON), RUNS.c.wake_at <= now),
            )
            .order_by(RUNS.c.number)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        return await self._database.run(
            lambda transaction: _lease(transaction, wanted, owner, now + seconds)
        )

    async def lease(
        self,
        id: str,  # noqa: A002 - it is known by its id
        owner: str,
        *,
        seconds: float = LEASE,
    ) -> StoredRun | None:
        now = self._clock.time()
        wanted = (
            select(RUNS)
            .where(
                RUNS.c.id == clean_text(id),
                RUNS.c.finished_at.is_(None),
                or_(
                    RUNS.c.lease_owner.in_(("", clean_text(owner))),
                    RUNS.c.lease_until <= now,
                ),
            )
            .with_for_update()
        )
        return await self._database.run(
            lambda transaction: _lease(transaction, wanted, owner, now + seconds)
        )

    async def renew(
        self, ids: Collection[str], owner: str, *, seconds: float = LEASE
    ) -> frozenset[str]:
        until = self._clock.time() + seconds
        names = {clean_text(id_): id_ for id_ in ids}
        held = (
            select(RUNS.c.id)
            .where(RUNS.c.id.in_(names), RUNS.c.lease_owner == clean_text(owner))
            .order_by(RUNS.c.id)
            .with_for_update()
        )

        def renew(transaction: Transaction) -> frozenset[str]:
            found = [row.id for row in transaction.all(held)]
            if found:
                statement = update(RUNS).where(RUNS.c.id.in_(found)).values(lease_until=until)
                transaction.execute(statement)
            return frozenset(names[id_] for id_ in found)

        return await self._database.run(renew) if names else frozenset()

    async def release(self, id: str, owner: str) -> None:  # noqa: A002 - it is known by its id
        statement = (
            update(RUNS)
            .where(RUNS.c.id == clean_text(id), RUNS.c.lease_owner == clean_text(owner))
            .values(lease_owner="", lease_until=None)
        )
        await self._database.run(lambda transaction: transaction.execute(statement))

    async def forget_runs(self, ids: Collection[str]) -> int:
        return await self._database.run(
            lambda transaction: delete_ended_runs(transaction, ids), atomic=True
        )

    async def forget(self, *, finished_before: float) -> int:
        old = (
            select(RUNS.c.id)
            .where(RUNS.c.finished_at < finished_before)
            .order_by(RUNS.c.finished_at)
            .limit(_CHUNK)
            .with_for_update(skip_locked=True)
        )

        def forget(transaction: Transaction) -> int:
            return _delete(transaction, [row.id for row in transaction.all(old)])

        forgotten = 0
        while True:
            number = await self._database.run(forget)
            forgotten += number
            if number < _CHUNK:
                return forgotten


def delete_ended_runs(transaction: Transaction, ids: Collection[str]) -> int:
    """Delete those of these runs that have ended, with all their rows; returns the count."""
    names = [clean_text(id_) for id_ in ids]
    count = 0
    for first in range(0, len(names), _CHUNK):
        wanted = RUNS.c.id.in_(names[first : first + _CHUNK]), RUNS.c.finished_at.is_not(None)
        ended = select(RUNS.c.id).where(*wanted).with_for_update()
        count += _delete(transaction, [row.id for row in transaction.all(ended)])
    return count


def _delete(transaction: Transaction, ids: Sequence[str]) -> int:
    if ids:
        for table in (RUN_STEPS, RUN_EVENTS, RUN_SIGNALS):
            transaction.execute(delete(table).where(table.c.run_id.in_(ids)))
        transaction.execute(delete(RUNS).where(RUNS.c.id.in_(ids)))
    return len(ids)


def _plan(transaction: Transaction, id: str) -> StoredPlan | None:  # noqa: A002 - it is known by its id
    row = transaction.first(select(PLANS.c.body).where(PLANS.c.id == clean_text(id)))
    return None if row is None else load(row.body, StoredPlan)


def _lease(
    transaction: Transaction, wanted: Select[*tuple[Any, ...]], owner: str, until: float
) -> StoredRun | None:
    row = transaction.first(wanted)
    if row is None:
        return None
    transaction.execute(
        update(RUNS)
        .where(RUNS.c.id == row.id)
        .values(
            state=NodeState.IN_PROGRESS,
            wake_at=None,
            lease_owner=clean_text(owner),
            lease_until=until,
        )
    )
    leased = _run(transaction.all(select(RUNS).where(RUNS.c.id == row.id))[0])
    return structs.replace(
        leased,
        was_left=bool(row.lease_owner),
        was_in_progress=row.state == NodeState.IN_PROGRESS,
    )


def select_runs(query: RunQuery) -> Select[*tuple[Any, ...]]:
    """The query for the runs of a page, newest first."""
    wanted = select(*_SHOWN).order_by(RUNS.c.created_at.desc(), RUNS.c.number.desc())
    for name in ("state", "plan_id", "principal"):
        if value := getattr(query, name):
            wanted = wanted.where(RUNS.c[name] == clean_text(value))
    if query.tenant is not None:
        wanted = wanted.where(RUNS.c.tenant == clean_text(query.tenant))
    # one index at most: a state or a tenant may have most of the runs
    if not (query.plan_id or query.principal or query.assignees):
        if query.state not in {"", NodeState.COMPLETED}:
            wanted = wanted.where(is_in_index(RUNS.c.state, NodeState.COMPLETED))
        elif query.tenant:
            wanted = wanted.where(is_in_index(RUNS.c.tenant, ""))
    if query.assignees:
        texts = [dump({"assignee": clean_text(name)})[1:-1] for name in sorted(query.assignees)]
        asked = [_RESULT.contains(text, autoescape=True) for text in texts]
        # LIKE takes upper and lower case for the same in SQLite: the caller compares again
        wanted = wanted.where(RUNS.c.finished_at.is_(None), or_(*asked))
    position = decode_position(query.cursor)
    if position is not None:
        wanted = wanted.where(tuple_(RUNS.c.created_at, RUNS.c.number) < position)
    return wanted


def _run(row: Row[Any]) -> StoredRun:
    return StoredRun(
        start=load(row.body, RunStart),
        plan_id=row.plan_id,
        state=NodeState(row.state),
        result=None if row.result is None else load(row.result, RunResult),
        finished_at=row.finished_at,
        wake_at=row.wake_at,
        lease_owner=row.lease_owner,
        lease_until=row.lease_until,
    )
