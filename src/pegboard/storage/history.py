"""Reads calls back, page by page."""

import contextlib
import json
import sqlite3
from collections.abc import Awaitable, Callable
from typing import Any

from pegboard.core.frozen import clean_text
from pegboard.core.ports.store import HistoryPage, HistoryQuery
from pegboard.errors import Unavailable
from pegboard.storage.connection import Reader
from pegboard.storage.paging import cursor_of, page_size, position_of
from pegboard.storage.rows import UNKNOWN

Flush = Callable[[], Awaitable[None]]


class SqliteHistory:
    """What was recorded in one database."""

    def __init__(self, reader: Reader, *, flush: Flush | None = None) -> None:
        """Read through `reader`, after `flush` so that a call is seen by whoever just made it."""
        self._reader = reader
        self._flush = flush

    async def calls(self, query: HistoryQuery) -> HistoryPage:
        """One page, newest first.

        Raises:
            InvalidRequest: The cursor is not one of ours, or the limit is out of range.
            Unavailable: The database cannot be read.
        """
        limit = page_size(query)
        statement, values = _select(query)
        await self._catch_up()
        rows = await self._reader.run(
            lambda connection: connection.execute(statement, (*values, limit + 1)).fetchall()
        )
        page = rows[:limit]
        more = len(rows) > limit
        return HistoryPage(
            calls=[_shown(row) for row in page],
            next_cursor=cursor_of((page[-1][1], page[-1][0])) if more else "",
        )

    async def detail(self, error_id: str) -> dict[str, Any] | None:
        """The operator's detail behind an error id; None when unknown."""
        await self._catch_up()

        def find(connection: sqlite3.Connection) -> Any:
            return connection.execute(
                "SELECT body FROM error_details WHERE error_id = ?", (clean_text(error_id),)
            ).fetchone()

        row = await self._reader.run(find)
        return None if row is None else json.loads(row[0])

    async def _catch_up(self) -> None:
        if self._flush is None:
            return
        # What cannot be written now is shown once it is; reading goes on without it.
        with contextlib.suppress(Unavailable):
            await self._flush()


def _select(query: HistoryQuery) -> tuple[str, tuple[Any, ...]]:
    """The statement for one page; only our own column names become part of its text."""
    equal = {
        "tool": query.tool,
        "source": query.source,
        "status": query.status,
        "principal": query.principal,
        "run_id": query.run_id,
    }
    wanted = [(f"{name} = ?", clean_text(value)) for name, value in equal.items() if value]
    conditions = [condition for condition, _ in wanted]
    values: list[Any] = [value for _, value in wanted]
    if query.unfinished:
        # A literal, so that the planner sees that the partial index applies.
        conditions.append(f"status = '{UNKNOWN}'")
    if query.since is not None:
        conditions.append("started_at >= ?")
        values.append(query.since)
    if query.until is not None:
        conditions.append("started_at < ?")
        values.append(query.until)
    position = position_of(query.cursor)
    if position is not None:
        conditions.append("(started_at, id) < (?, ?)")
        values.extend(position)
    where = f"WHERE {' AND '.join(conditions)} " if conditions else ""
    statement = (
        f"SELECT id, started_at, body FROM calls {where}"  # noqa: S608 -- own column names only
        "ORDER BY started_at DESC, id DESC LIMIT ?"
    )
    return statement, tuple(values)


def _shown(row: tuple[int, float, str]) -> dict[str, Any]:
    # The column is what pages are ordered by; a finished call's own time may differ by a hair.
    return json.loads(row[2]) | {"started_at": row[1]}
