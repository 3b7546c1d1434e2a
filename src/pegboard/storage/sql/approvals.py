"""Approvals in a database."""

from collections.abc import Callable, Sequence
from typing import Any, get_args

from msgspec import ValidationError
from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    and_,
    false,
    func,
    or_,
    select,
    true,
    tuple_,
    union,
    update,
)

from pegboard.core.pagination import check_page_size, count_fitting, decode_position, encode_cursor
from pegboard.core.ports.approval_store import (
    Approval,
    ApprovalPage,
    ApprovalQuery,
    ApprovalState,
    ApprovalVerdict,
    DecisionResult,
)
from pegboard.core.ports.clock import Clock
from pegboard.core.record_snapshot import clean_text
from pegboard.core.stores.approval_transitions import (
    OPEN,
    apply_decision,
    apply_expiry,
    apply_use,
    apply_withdrawal,
    is_overdue,
)
from pegboard.storage.columns import is_in_index
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import copy_json, dump, load
from pegboard.storage.tables import APPROVALS as TABLE

_STATES = frozenset(get_args(ApprovalState))
_MAX_PARTS = 20
"""Tenants whose approvals are looked up one by one; of more they are filtered together."""
_Change = Callable[[Approval], Approval | None]


class SqlApprovals:
    """The `ApprovalStore` of a database."""

    def __init__(self, database: StorageDatabase, *, clock: Clock) -> None:
        """Keep them there."""
        self._database = database
        self._clock = clock

    async def ask(self, approval: Approval) -> Approval:
        values = {
            "id": clean_text(approval.id),
            "state": approval.state,
            "principal": clean_text(approval.principal),
            "tenant": clean_text(approval.tenant),
            "tool": clean_text(approval.tool),
            "run_id": clean_text(approval.run_id),
            "digest": approval.digest,
            "created_at": approval.created_at,
            "expires_at": approval.expires_at,
            "body": dump(approval),
        }

        def ask(transaction: Transaction) -> Approval:
            statement = transaction.insert(TABLE).values(values)
            transaction.execute(statement.on_conflict_do_nothing(index_elements=["id"]))
            return _of(transaction, approval.id) or copy_json(approval)

        return apply_expiry(await self._database.run(ask), self._clock.time())

    async def get(self, id: str) -> Approval | None:  # noqa: A002 - it is known by its id
        found = await self._database.read(lambda transaction: _of(transaction, id))
        return None if found is None else apply_expiry(found, self._clock.time())

    async def approvals(self, query: ApprovalQuery) -> ApprovalPage:
        limit, now = check_page_size(query.limit), self._clock.time()
        wanted = select_approvals(query, now, limit + 1)
        rows, count, bodies = await self._database.read(lambda it: _read_page(it, wanted, limit))
        page, more = rows[:count], len(rows) > count
        return ApprovalPage(
            approvals=[
                apply_expiry(_read(bodies[row.number]), now) for row in page if row.number in bodies
            ],
            next_cursor=encode_cursor(page[-1].created_at, page[-1].number) if more else "",
        )

    async def decide(
        self,
        id: str,  # noqa: A002 - it is known by its id
        verdict: ApprovalVerdict,
        *,
        by: str,
        note: str = "",
        edited: Any = None,
        edited_digest: str = "",
        grant: str = "",
    ) -> DecisionResult:
        now = self._clock.time()
        answer = {
            "decided_by": by,
            "note": note,
            "edited": edited,
            "edited_digest": edited_digest,
            "grant": grant,
        }
        known, changed = await self._change(
            id, lambda item: apply_decision(item, verdict, now, answer)
        )
        if changed is not None:
            return DecisionResult(applied=True, approval=changed)
        return DecisionResult(
            applied=False, approval=None if known is None else apply_expiry(known, now)
        )

    async def use(self, id: str, *, digest: str, call_id: str) -> Approval | None:  # noqa: A002 - it is known by its id
        now = self._clock.time()
        _, changed = await self._change(id, lambda item: apply_use(item, digest, now, call_id))
        return changed

    async def withdraw(self, run_id: str, *, by: str, note: str) -> Sequence[Approval]:
        now = self._clock.time()
        asked = (
            select(TABLE.c.body)
            .where(TABLE.c.state == "pending", TABLE.c.run_id == clean_text(run_id))
            .order_by(TABLE.c.number)
            .with_for_update()
        )

        def withdraw(transaction: Transaction) -> list[Approval]:
            found = [_read(row.body) for row in transaction.all(asked)]
            changes = (apply_withdrawal(item, now, by=by, note=note) for item in found)
            ended = [item for item in changes if item is not None]
            for item in ended:
                _store(transaction, item)
            return ended

        return await self._database.run(withdraw)

    async def expire(self) -> Sequence[Approval]:
        now = self._clock.time()
        overdue = (
            select(TABLE.c.body)
            .where(TABLE.c.state.in_(OPEN), TABLE.c.expires_at <= now)
            .order_by(TABLE.c.number)
            .with_for_update(skip_locked=True)
        )

        def expire(transaction: Transaction) -> list[Approval]:
            found = [_read(row.body) for row in transaction.all(overdue)]
            ended = [apply_expiry(item, now) for item in found if is_overdue(item, now)]
            for item in ended:
                _store(transaction, item)
            return ended

        return await self._database.run(expire)

    async def _change(
        self,
        id: str,  # noqa: A002 - it is known by its id
        change: _Change,
    ) -> tuple[Approval | None, Approval | None]:
        """Lock an approval and change it; return it before and after the change."""

        def apply(transaction: Transaction) -> tuple[Approval | None, Approval | None]:
            known = _of(transaction, id, lock=True)
            changed = None if known is None else change(known)
            if changed is not None:
                _store(transaction, changed)
            return known, changed

        return await self._database.run(apply)


def _read_page(
    transaction: Transaction, wanted: Select[*tuple[Any, ...]], limit: int
) -> tuple[Sequence[Row[Any]], int, dict[int, str]]:
    """The rows of a page and one more, how many of them fit, and the bodies of those by number.

    The body of a row that another server deletes meanwhile is missing.
    """
    rows = transaction.all(wanted)
    count = count_fitting(row.size for row in rows[:limit])
    numbers = [row.number for row in rows[:count]]
    bodies = select(TABLE.c.number, TABLE.c.body).where(TABLE.c.number.in_(numbers))
    return rows, count, {row.number: row.body for row in transaction.all(bodies)}


def _of(transaction: Transaction, id: str, *, lock: bool = False) -> Approval | None:  # noqa: A002 - it is known by its id
    wanted = select(TABLE.c.body).where(TABLE.c.id == clean_text(id))
    row = transaction.first(wanted.with_for_update() if lock else wanted)
    return None if row is None else _read(row.body)


def _read(body: str) -> Approval:
    """Read an approval; one in a state that only newer servers know is not pending."""
    try:
        return load(body, Approval)
    except ValidationError:
        kept = load(body, dict[str, Any])
        if kept.get("state") in _STATES:
            raise
        note = f"A newer Pegboard has set it to '{kept.get('state')}'."
        return load(dump({**kept, "state": "withdrawn", "note": note}), Approval)


def _store(transaction: Transaction, approval: Approval) -> None:
    transaction.execute(
        update(TABLE)
        .where(TABLE.c.id == clean_text(approval.id))
        .values(state=approval.state, body=dump(approval))
    )


def select_approvals(query: ApprovalQuery, now: float, limit: int) -> Select[*tuple[Any, ...]]:
    """The query for the approvals of a page, newest first."""
    wanted = _filter(query, now)
    # Each part is cut to the page: with one condition for all, approvals of others are read too.
    parts = [_cut(wanted.where(part), TABLE.c, limit) for part in _list_parts(query)]
    if len(parts) == 1:
        return parts[0]
    found = union(*(select(part.subquery()) for part in parts)).subquery()
    return _cut(select(found), found.c, limit)


def _list_parts(query: ApprovalQuery) -> list[ColumnElement[bool]]:
    """Conditions whose rows together are those that the caller may see, one of them at least.

    Each is for the rows of one owner, which an index has in the order of the page.
    """
    visible = query.visible
    if visible is None:
        return [_choose_index(query, query.tenant or "")]
    own = [TABLE.c.principal == clean_text(name) for name in visible.principals]
    if visible.tenant is not None:
        own = [and_(it, TABLE.c.tenant == clean_text(visible.tenant)) for it in own]
    tenants = sorted(visible.tenants)
    if len(tenants) > _MAX_PARTS:
        return [*own, TABLE.c.tenant.in_([clean_text(name) for name in tenants])]
    of_tenants = [
        and_(TABLE.c.tenant == clean_text(name), _choose_index(query, name)) for name in tenants
    ]
    return [*own, *of_tenants] or [false()]


def _choose_index(query: ApprovalQuery, tenant: str) -> ColumnElement[bool]:
    """The condition of the index by tenant, where no filter has fewer rows than a tenant."""
    is_narrow = query.principal or query.run_id or query.tool or query.digest
    if is_narrow or not tenant or query.state not in {"", "used"}:
        return true()
    return is_in_index(TABLE.c.tenant, "")


def _cut(wanted: Select[*tuple[Any, ...]], columns: Any, limit: int) -> Select[*tuple[Any, ...]]:
    return wanted.order_by(columns.created_at.desc(), columns.number.desc()).limit(limit)


def _filter(query: ApprovalQuery, now: float) -> Select[*tuple[Any, ...]]:
    size = func.length(TABLE.c.body).label("size")
    wanted = select(TABLE.c.number, TABLE.c.created_at, size)
    for name in ("principal", "run_id", "tool", "digest"):
        if value := getattr(query, name):
            wanted = wanted.where(TABLE.c[name] == clean_text(value))
    if query.tenant is not None:
        wanted = wanted.where(TABLE.c.tenant == clean_text(query.tenant))
    if query.state == "expired":
        late = and_(TABLE.c.state.in_(OPEN), TABLE.c.expires_at <= now)
        wanted = wanted.where(or_(TABLE.c.state == "expired", late))
    elif query.state:
        wanted = wanted.where(TABLE.c.state == query.state)
        if query.state in OPEN:
            wanted = wanted.where(or_(TABLE.c.expires_at.is_(None), TABLE.c.expires_at > now))
    position = decode_position(query.cursor)
    if position is not None:
        wanted = wanted.where(tuple_(TABLE.c.created_at, TABLE.c.number) < position)
    return wanted
