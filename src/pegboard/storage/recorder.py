"""Writes what happened: starts before they run, records after."""

import sqlite3
from typing import Any

from msgspec import json

from pegboard.core.event import CallRecord, CallStarted, Event
from pegboard.core.frozen import Frozen, freeze
from pegboard.storage.rows import Redact, call_row, detail_row, start_row
from pegboard.storage.writer import Writer

_INSERT = """
    INSERT INTO calls
        (call_id, tool, source, status, principal, tenant, run_id, started_at, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (call_id)
"""

# The row keeps its number and its time, so that it never moves under somebody who turns pages.
_FINISH = (
    _INSERT + "DO UPDATE SET status = excluded.status, source = excluded.source, "
    "tool = excluded.tool, run_id = excluded.run_id, body = excluded.body"
)
_START = _INSERT + "DO NOTHING"
_DETAIL = "INSERT OR REPLACE INTO error_details (error_id, body) VALUES (?, ?)"


class SqliteRecorder:
    """The listener and the journal of one database: both write the same table."""

    def __init__(self, writer: Writer, *, keep_arguments: bool, redact: Redact) -> None:
        """Write through `writer`; arguments only if they are to be kept."""
        self._writer = writer
        self._keep_arguments = keep_arguments
        self._redact = redact
        self._running: set[str] = set()

    async def started(self, event: CallStarted) -> None:
        """Return once the start is committed.

        Raises:
            Unavailable: It could not be stored; the call must not run.
        """
        values = _values(start_row(event))
        self._running.add(event.call_id)
        await self._writer.run(lambda connection: _insert(connection, _START, values))

    def on_event(self, event: Event) -> None:
        """Queue the record of a call for the next commit."""
        if not isinstance(event, CallRecord):
            return
        frozen = freeze(event, keep_arguments=self._keep_arguments)
        started = event.call_id in self._running
        self._running.discard(event.call_id)
        # Without its record a started write would be shown as unfinished for ever.
        self._writer.post(lambda connection: self._finish(connection, frozen), keep=started)

    def _finish(self, connection: sqlite3.Connection, frozen: Frozen) -> None:
        row = call_row(frozen, keep_arguments=self._keep_arguments, redact=self._redact)
        _insert(connection, _FINISH, _values(row))
        if frozen.record.error_id and frozen.record.error_detail:
            detail = detail_row(frozen.record, self._redact)
            connection.execute(_DETAIL, (detail["error_id"], json.encode(detail).decode()))


def _insert(connection: sqlite3.Connection, statement: str, values: tuple[Any, ...]) -> None:
    connection.execute(statement, values)


def _values(row: dict[str, Any]) -> tuple[Any, ...]:
    return (
        row["call_id"],
        row["tool"],
        row["source"],
        row["status"],
        row["principal"],
        row["tenant"],
        row["run_id"],
        row["started_at"],
        json.encode(row).decode(),
    )
