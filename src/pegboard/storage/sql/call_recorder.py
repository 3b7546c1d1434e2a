"""Writes what happened: starts before they run, records after."""

from collections.abc import Callable
from typing import Any

from msgspec import json
from sqlalchemy import Table

from pegboard.core.event import CallRecord, CallStarted, Event, RunErrorNoted
from pegboard.core.record_snapshot import RecordSnapshot, freeze
from pegboard.errors import Unavailable
from pegboard.storage.audit_entries import StartFilter, in_history, start_not_audited
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import PreparedInsert, Transaction
from pegboard.storage.history_rows import Redact, call_row, detail_row, run_detail_row, start_row
from pegboard.storage.sql.audit import append
from pegboard.storage.tables import CALLS, ERROR_DETAILS

_NAMES = (
    "call_id",
    "tool",
    "source",
    "status",
    "principal",
    "tenant",
    "run_id",
    "started_at",
    "body",
    "instead_of",
)


def _finish(insert: Callable[[Table], Any]) -> Any:
    """The row keeps its number and its time, so that it does not move between pages."""
    statement = insert(CALLS)
    changed = {
        name: statement.excluded[name]
        for name in ("status", "source", "tool", "run_id", "instead_of", "body")
    }
    return statement.on_conflict_do_update(index_elements=["call_id"], set_=changed)


def _detail(insert: Callable[[Table], Any]) -> Any:
    statement = insert(ERROR_DETAILS)
    changed = {"body": statement.excluded.body}
    return statement.on_conflict_do_update(index_elements=["error_id"], set_=changed)


_START = PreparedInsert(
    lambda insert: insert(CALLS).on_conflict_do_nothing(index_elements=["call_id"]), *_NAMES
)
_FINISH = PreparedInsert(_finish, *_NAMES)
_DETAIL = PreparedInsert(_detail, "error_id", "body")


class SqlRecorder:
    """The listener and the journal of one database: both write the same table."""

    def __init__(
        self,
        database: StorageDatabase,
        *,
        keep_arguments: bool,
        redact: Redact,
        starts: StartFilter,
    ) -> None:
        """Write to this database; arguments only with `keep_arguments`."""
        self._database = database
        self._starts = starts
        self.wants = starts.wants
        self._keep_arguments = keep_arguments
        self._redact = redact
        self._running: set[str] = set()

    async def record_start(self, event: CallStarted) -> None:
        """Return once the start is committed.

        Raises:
            AuditUnavailable: The required audit record could not be written; the call must not run.
            Unavailable: It could not be stored; the call must not run.
        """
        entry = self._starts.entry(event)
        is_kept = in_history(event.effect)
        if entry is None and not is_kept:
            return  # others of its tool are wanted by the trail
        values = _values(start_row(event))
        if is_kept:
            self._running.add(event.call_id)
        if entry is None:
            await self._database.run(lambda transaction: _insert(transaction, values), atomic=True)
            return

        def start(transaction: Transaction) -> None:
            append(transaction, [entry])
            if is_kept:
                _insert(transaction, values)

        try:
            await self._database.run(start)
        except Unavailable as error:
            raise start_not_audited(event.tool, error) from error

    def on_event(self, event: Event) -> None:
        """Queue the record of a call for the next commit."""
        if isinstance(event, RunErrorNoted):
            detail = run_detail_row(event, self._redact)
            self._database.post(lambda transaction: _add_detail(transaction, detail))
        if not isinstance(event, CallRecord):
            return
        frozen = freeze(event, keep_arguments=self._keep_arguments)
        started = event.call_id in self._running
        self._running.discard(event.call_id)
        # Without its record a started write would be shown as unfinished for ever.
        self._database.post(lambda transaction: self._finish(transaction, frozen), keep=started)

    def _finish(self, transaction: Transaction, frozen: RecordSnapshot) -> None:
        row = call_row(frozen, keep_arguments=self._keep_arguments, redact=self._redact)
        transaction.quick(_FINISH, _values(row))
        if frozen.record.error_id and frozen.record.error_detail:
            _add_detail(transaction, detail_row(frozen.record, self._redact))


def _add_detail(transaction: Transaction, detail: dict[str, Any]) -> None:
    transaction.quick(_DETAIL, (detail["error_id"], json.encode(detail).decode()))


def _insert(transaction: Transaction, values: tuple[Any, ...]) -> None:
    transaction.quick(_START, values)


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
        row["instead_of"],
    )
