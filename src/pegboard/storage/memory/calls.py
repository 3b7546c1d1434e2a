"""Calls in memory: listener, journal and history in one."""

from typing import Any

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.event import CallRecord, CallStarted, Event, RunErrorNoted
from pegboard.core.pagination import Position, check_page_size, decode_position, encode_cursor
from pegboard.core.ports.audit_store import AuditStore
from pegboard.core.ports.call_stores import (
    CallTotals,
    HistoryPage,
    HistoryQuery,
    TotalsQuery,
)
from pegboard.core.record_snapshot import freeze
from pegboard.core.run_event import RUN_ERROR_IDS
from pegboard.errors import Unavailable
from pegboard.storage.audit_entries import StartFilter, in_history, start_not_audited
from pegboard.storage.history_rows import (
    MAX_TIMED,
    TIMED,
    UNKNOWN,
    Redact,
    call_row,
    detail_row,
    run_detail_row,
    slot_seconds,
    start_row,
    sum_calls,
)

_Entry = tuple[Position, dict[str, Any]]


class MemoryCalls:
    """Listener, journal and history in one."""

    def __init__(
        self,
        gate: ClosableLock,
        *,
        keep_arguments: bool,
        redact: Redact,
        bound: int,
        starts: StartFilter,
        trail: AuditStore,
    ) -> None:
        self._gate = gate
        self._starts = starts
        self._trail = trail
        self.wants = starts.wants
        self._keep_arguments = keep_arguments
        self._redact = redact
        self._bound = bound
        self._number = 0
        self._unfinished: dict[str, _Entry] = {}
        self._finished: dict[str, _Entry] = {}
        self._details: dict[str, dict[str, Any]] = {}
        self.dropped = 0

    async def record_start(self, event: CallStarted) -> None:
        entry = self._starts.entry(event)
        if entry is not None:
            try:
                await self._trail.append([entry])
            except Unavailable as error:
                raise start_not_audited(event.tool, error) from error
        if not in_history(event.effect):
            return
        row = start_row(event)
        with self._gate:
            if event.call_id in self._finished or event.call_id in self._unfinished:
                return
            self._unfinished[event.call_id] = (self._next(event.started_at), row)
            self.dropped += _trim(self._unfinished, self._bound)

    def on_event(self, event: Event) -> None:
        if isinstance(event, RunErrorNoted):
            self._add_detail(run_detail_row(event, self._redact))
        if not isinstance(event, CallRecord):
            return
        frozen = freeze(event, keep_arguments=self._keep_arguments)
        row = call_row(frozen, keep_arguments=self._keep_arguments, redact=self._redact)
        try:
            with self._gate:
                self._finish(event, row)
        except Unavailable:
            self.dropped += 1

    def forget(self, before: float) -> int:
        """Delete finished calls that began before this time; return their number."""
        with self._gate:
            old = [id_ for id_, entry in self._finished.items() if entry[0][0] < before]
            for id_ in old:
                _, row = self._finished.pop(id_)
                self._details.pop(row["error_id"], None)
            for id_, detail in list(self._details.items()):
                if id_.startswith(RUN_ERROR_IDS) and detail["at"] < before:
                    del self._details[id_]
            return len(old)

    def _finish(self, record: CallRecord, row: dict[str, Any]) -> None:
        earlier = self._unfinished.pop(record.call_id, None)
        earlier = earlier or self._finished.pop(record.call_id, None)
        # The position stays what it was, so that no row moves under somebody who turns pages.
        position = earlier[0] if earlier else self._next(record.started_at)
        self._finished[record.call_id] = (position, row | {"started_at": position[0]})
        _trim(self._finished, self._bound)
        if record.error_id and record.error_detail:
            self._details[record.error_id] = detail_row(record, self._redact)
            _trim(self._details, self._bound)

    def _add_detail(self, detail: dict[str, Any]) -> None:
        try:
            with self._gate:
                self._details[detail["error_id"]] = detail
                _trim(self._details, self._bound)
        except Unavailable:
            self.dropped += 1

    def _next(self, started_at: float) -> Position:
        self._number += 1
        return started_at, self._number

    async def calls(self, query: HistoryQuery) -> HistoryPage:
        limit = check_page_size(query.limit)
        before = decode_position(query.cursor)
        with self._gate:
            entries = [*self._finished.values(), *self._unfinished.values()]
        wanted = [
            entry
            for entry in entries
            if (before is None or entry[0] < before) and _matches(query, entry[1])
        ]
        wanted.sort(key=lambda entry: entry[0], reverse=True)
        page = wanted[:limit]
        return HistoryPage(
            calls=[dict(row) for _, row in page],
            next_cursor=encode_cursor(*page[-1][0]) if len(wanted) > limit else "",
        )

    async def totals(self, query: TotalsQuery) -> CallTotals:
        with self._gate:
            entries = [*self._finished.values(), *self._unfinished.values()]
        rows = [
            row
            for (at, _), row in entries
            if query.since <= at < query.until
            and query.tool in {"", row["tool"]}
            and query.source in {"", row["source"]}
            and query.principal in {"", row["principal"]}
            and query.tenant in {None, row["tenant"]}
        ]
        width, since = slot_seconds(query), int(query.since)
        counts = [((int(row["started_at"]) - since) // width, row["status"], 1) for row in rows]
        timed = [row for row in rows if row["status"] in TIMED]
        timed.sort(key=lambda row: row["started_at"], reverse=True)
        return sum_calls(query, counts, [row["duration_ms"] for row in timed[:MAX_TIMED]])

    async def detail(self, error_id: str) -> dict[str, Any] | None:
        with self._gate:
            detail = self._details.get(error_id)
        return None if detail is None else dict(detail)


def _matches(query: HistoryQuery, row: dict[str, Any]) -> bool:
    equal = {
        "tool": query.tool,
        "source": query.source,
        "status": query.status,
        "principal": query.principal,
        "run_id": query.run_id,
        "instead_of": query.instead_of,
        "call_id": query.call_id,
    }
    started_at = row["started_at"]
    return (
        all(row[name] == value for name, value in equal.items() if value)
        and query.tenant in {None, row["tenant"]}
        and (not query.unfinished or row["status"] == UNKNOWN)
        and (query.since is None or started_at >= query.since)
        and (query.until is None or started_at < query.until)
    )


def _trim(entries: dict[str, Any], bound: int) -> int:
    """Delete the oldest entries beyond the bound; return their number."""
    surplus = max(0, len(entries) - bound)
    for _ in range(surplus):
        entries.pop(next(iter(entries)))
    return surplus
