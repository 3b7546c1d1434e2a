"""Reads calls back, page by page."""

import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from msgspec import Struct
from msgspec import json as fast
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Row,
    Select,
    and_,
    cast,
    func,
    literal_column,
    select,
    tuple_,
)

from pegboard.core.pagination import check_page_size, decode_position, encode_cursor
from pegboard.core.ports.call_stores import (
    CallTotals,
    HistoryPage,
    HistoryQuery,
    TotalsQuery,
)
from pegboard.core.record_snapshot import clean_text
from pegboard.errors import Unavailable
from pegboard.storage.columns import is_in_index
from pegboard.storage.databases.transaction import Operation, Transaction, Value
from pegboard.storage.history_rows import MAX_TIMED, TIMED, UNKNOWN, slot_seconds, sum_calls
from pegboard.storage.tables import CALLS, ERROR_DETAILS

Flush = Callable[[], Awaitable[None]]


class HistoryDatabase(Protocol):
    """Runs queries: a database, or a read-only connection."""

    async def read(self, query: Operation[Value]) -> Value:
        """The query's answer."""
        ...


class SqlHistory:
    """The call history of one database."""

    def __init__(self, database: HistoryDatabase, *, flush: Flush | None = None) -> None:
        """Read from this database, after `flush` so that callers see their own calls."""
        self._database = database
        self._flush = flush

    async def calls(self, query: HistoryQuery) -> HistoryPage:
        """One page, newest first.

        Raises:
            InvalidRequest: The cursor is not one of ours, or the limit is out of range.
            Unavailable: The database cannot be read.
        """
        limit = check_page_size(query.limit)
        wanted = select_calls(query).limit(limit + 1)
        await self._catch_up()
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        page = rows[:limit]
        more = len(rows) > limit
        return HistoryPage(
            calls=[_call_of(row) for row in page],
            next_cursor=encode_cursor(page[-1].started_at, page[-1].id) if more else "",
        )

    async def totals(self, query: TotalsQuery) -> CallTotals:
        """How many calls there were, and how long the newest ones took.

        Raises:
            Unavailable: The database cannot be read.
        """
        await self._catch_up()
        asked = _counted(query)
        slot = (cast(CALLS.c.started_at, BigInteger) - int(query.since)) // slot_seconds(query)
        counted = select(slot.label("slot"), CALLS.c.status, func.count().label("number"))
        counted = counted.where(asked).group_by("slot", CALLS.c.status)
        newest = select(CALLS.c.body).where(asked, CALLS.c.status.in_(sorted(TIMED)))
        newest = newest.order_by(CALLS.c.started_at.desc(), CALLS.c.id.desc()).limit(MAX_TIMED)

        def read(transaction: Transaction) -> CallTotals:
            counts = [(row.slot, row.status, row.number) for row in transaction.all(counted)]
            bodies = [fast.decode(row.body, type=_Timed) for row in transaction.all(newest)]
            return sum_calls(query, counts, [body.duration_ms for body in bodies])

        return await self._database.read(read)

    async def detail(self, error_id: str) -> dict[str, Any] | None:
        """The operator's detail behind an error id; None when unknown."""
        await self._catch_up()

        wanted = select(ERROR_DETAILS.c.body).where(
            ERROR_DETAILS.c.error_id == clean_text(error_id)
        )
        row = await self._database.read(lambda transaction: transaction.first(wanted))
        return None if row is None else json.loads(row.body)

    async def _catch_up(self) -> None:
        if self._flush is None:
            return
        # What cannot be written now is shown once it is; reading goes on without it.
        with contextlib.suppress(Unavailable):
            await self._flush()


class _Timed(Struct):
    """What of the body of a call says how long it took."""

    duration_ms: float


def _counted(query: TotalsQuery) -> ColumnElement[bool]:
    asked = and_(CALLS.c.started_at >= query.since, CALLS.c.started_at < query.until)
    for name in ("tool", "source", "principal"):
        if value := getattr(query, name):
            asked &= CALLS.c[name] == clean_text(value)
    if query.tenant is not None:
        asked &= CALLS.c.tenant == clean_text(query.tenant)
    return asked


_ABSENT_FROM_INDEX = {"status": "completed", "run_id": "", "instead_of": ""}
"""Columns with a partial index, and the value of the rows that it leaves out."""


def select_calls(query: HistoryQuery) -> Select[*tuple[Any, ...]]:
    """The query for the calls of a page, newest first."""
    wanted = select(CALLS.c.id, CALLS.c.started_at, CALLS.c.body).order_by(
        CALLS.c.started_at.desc(), CALLS.c.id.desc()
    )
    has_index = query.unfinished
    for name in ("tool", "source", "status", "principal", "run_id", "instead_of", "call_id"):
        if value := getattr(query, name):
            wanted = wanted.where(CALLS.c[name] == clean_text(value))
            absent = _ABSENT_FROM_INDEX.get(name)
            has_index |= value != absent
            if absent is not None and value != absent:
                wanted = wanted.where(is_in_index(CALLS.c[name], absent))
    if query.tenant is not None:
        wanted = wanted.where(CALLS.c.tenant == clean_text(query.tenant))
        if query.tenant and not has_index:  # all calls may be those of one tenant
            wanted = wanted.where(is_in_index(CALLS.c.tenant, ""))
    if query.unfinished:
        wanted = wanted.where(CALLS.c.status == literal_column(f"'{UNKNOWN}'"))
    if query.since is not None:
        wanted = wanted.where(CALLS.c.started_at >= query.since)
    if query.until is not None:
        wanted = wanted.where(CALLS.c.started_at < query.until)
    position = decode_position(query.cursor)
    if position is not None:
        wanted = wanted.where(tuple_(CALLS.c.started_at, CALLS.c.id) < position)
    return wanted


def _call_of(row: Row[Any]) -> dict[str, Any]:
    # The column is what pages are ordered by; a finished call's own time may differ by a hair.
    return _UNSAID | json.loads(row.body) | {"started_at": row.started_at}


_UNSAID = {
    "instead_of": "",
    "model": "",
    "tokens": None,
    "cached_tokens": None,
    "cost": None,
    "untrusted": False,
}
"""Fields that rows of earlier versions lack."""
