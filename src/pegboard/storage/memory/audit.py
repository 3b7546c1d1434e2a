"""The audit trail in memory."""

from collections.abc import Sequence

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.event import Event
from pegboard.core.ports.audit_store import AuditEntry, AuditRecord, AuditReport
from pegboard.core.ports.clock import Clock
from pegboard.errors import Unavailable
from pegboard.storage.audit_chain import (
    FIRST_PREVIOUS_HASH,
    ChainCheck,
    link_records,
    retention_entry,
)
from pegboard.storage.audit_entries import AuditEventFilter, ReadAudit, entries_of
from pegboard.storage.history_rows import Redact


class MemoryAudit:
    """An `AuditStore` and its listener, in memory. Safe for several threads.

    Beyond its limit the older half is deleted, with a retention record.
    """

    def __init__(
        self,
        gate: ClosableLock,
        *,
        clock: Clock,
        redact: Redact,
        reads: ReadAudit,
        bound: int = 20_000,
    ) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        self._gate = gate
        self._clock = clock
        self._redact = redact
        self._audited = AuditEventFilter(redact, reads=reads, now=clock.time)
        self._bound = bound
        self._records: list[AuditRecord] = []
        self._dropped = 0

    @property
    def dropped(self) -> int:
        """Records that came after the storage was closed."""
        return self._dropped

    def on_event(self, event: Event) -> None:
        """Keep what the trail keeps of an event."""
        kept = self._audited.entry_of(event)
        if kept is None:
            return
        entries = entries_of([kept], self._redact)
        try:
            with self._gate:
                self._append(entries)
        except Unavailable:
            self._dropped += 1

    async def append(self, entries: Sequence[AuditEntry]) -> Sequence[AuditRecord]:
        with self._gate:
            return self._append(entries)

    async def records(
        self,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 100,
        kind: str = "",
        tenant: str | None = None,
        newest_first: bool = False,
    ) -> Sequence[AuditRecord]:
        with self._gate:
            found = [
                record
                for record in self._records
                if record.sequence > after
                and (before is None or record.sequence < before)
                and kind in {"", record.kind}
                and tenant in {None, record.tenant}
            ]
            return (found[::-1] if newest_first else found)[:limit]

    async def verify(self, *, anchor: tuple[int, str] | None = None) -> AuditReport:
        with self._gate:
            records = list(self._records)
        check = ChainCheck(anchor=anchor)
        for record in records:
            check.read(record)
        sequence, head = _place(records)
        return check.report(sequence=sequence, head=head)

    async def retain(self, *, since: float, by: str) -> AuditRecord | None:
        with self._gate:
            kept = next(
                (index for index, item in enumerate(self._records) if item.at >= since),
                len(self._records),
            )
            return self._forget(kept, since=since, by=by)

    def _append(self, entries: Sequence[AuditEntry]) -> Sequence[AuditRecord]:
        sequence, previous = _place(self._records)
        records = link_records(entries, sequence=sequence, previous=previous)
        self._records.extend(records)
        if len(self._records) > self._bound:
            half = len(self._records) // 2
            self._forget(half, since=self._records[half].at, by="the memory limit")
        return records

    def _forget(self, count: int, *, since: float, by: str) -> AuditRecord | None:
        if not count:
            return None
        first, last = self._records[0].sequence, self._records[count - 1]
        said = retention_entry(last, first=first, since=since, by=by, at=self._clock.time())
        sequence, previous = _place(self._records)
        self._records = [
            *self._records[count:],
            *link_records([said], sequence=sequence, previous=previous),
        ]
        return self._records[-1]


def _place(records: Sequence[AuditRecord]) -> tuple[int, str]:
    return (records[-1].sequence, records[-1].hash) if records else (0, FIRST_PREVIOUS_HASH)
