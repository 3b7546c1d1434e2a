"""The audit trail in a database."""

import threading
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple
from sqlalchemy import Row, Select, bindparam, delete, func, select, update

from pegboard.core.event import Event
from pegboard.core.ports.audit_store import AuditEntry, AuditRecord, AuditReport
from pegboard.core.ports.clock import Clock
from pegboard.core.record_snapshot import RecordSnapshot, clean_text
from pegboard.errors import InvalidRequest, Unavailable
from pegboard.storage.audit_chain import (
    RETENTION,
    ChainCheck,
    link_records,
    record_from_row,
    retention_entry,
)
from pegboard.storage.audit_entries import AuditEventFilter, ReadAudit, entries_of, gap_entry
from pegboard.storage.columns import is_in_index
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import PreparedInsert, Transaction
from pegboard.storage.history_rows import Redact
from pegboard.storage.tables import AUDIT, AUDIT_HEAD

_CHUNK = 1_000
_COLUMNS = tuple(column.name for column in AUDIT.c)

# Calls are written through these, each in the transaction of some other write.
_HEAD = PreparedInsert(
    lambda _: (
        select(AUDIT_HEAD.c.sequence, AUDIT_HEAD.c.hash)
        .where(AUDIT_HEAD.c.id == bindparam("id_"))
        .with_for_update()
    ),
    "id_",
)
_ADD = PreparedInsert(lambda insert: insert(AUDIT), *_COLUMNS)
_MOVE = PreparedInsert(
    lambda _: (
        update(AUDIT_HEAD)
        .values(sequence=bindparam("sequence"), hash=bindparam("hash"))
        .where(AUDIT_HEAD.c.id == bindparam("id_"))
    ),
    "sequence",
    "hash",
    "id_",
)


class SqlAudit:
    """The `AuditStore` of a database."""

    def __init__(self, database: StorageDatabase, *, clock: Clock) -> None:
        """Keep it there."""
        self._database = database
        self._clock = clock

    async def append(self, entries: Sequence[AuditEntry]) -> Sequence[AuditRecord]:
        kept = tuple(entries)
        return await self._database.run(lambda transaction: append(transaction, kept))

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
        wanted = select_records(after, before, kind=kind, tenant=tenant, newest_first=newest_first)
        wanted = wanted.limit(limit)
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        return [_record(row) for row in rows]

    async def verify(self, *, anchor: tuple[int, str] | None = None) -> AuditReport:
        first = await self._first()
        while True:
            report = await self._verify(anchor)
            before, first = first, await self._first()
            if not report.fault or first == before:  # else somebody lets old records go meanwhile
                return report

    async def retain(self, *, since: float, by: str) -> AuditRecord | None:
        old = await self._database.read(lambda transaction: _old(transaction, since))
        if old is None:
            return None
        at = self._clock.time()
        entry = retention_entry(old.last, first=old.first, since=since, by=by, at=at)
        said = await self._database.run(lambda transaction: _declare(transaction, entry, old))
        if said is not None:
            # Others write in between: the chain is whole from the first word on.
            for start in range(old.first, old.last.sequence + 1, _CHUNK):
                await self._delete(start, min(start + _CHUNK - 1, old.last.sequence))
        return said

    async def _delete(self, first: int, last: int) -> None:
        gone = delete(AUDIT).where(AUDIT.c.sequence.between(first, last))
        await self._database.run(lambda transaction: transaction.execute(gone), atomic=True)

    async def _verify(self, anchor: tuple[int, str] | None) -> AuditReport:
        # One statement sees one moment; what is written later is not asked for.
        newest = select(func.max(AUDIT.c.sequence)).scalar_subquery().label("newest")
        state = select(AUDIT_HEAD.c.sequence, AUDIT_HEAD.c.hash, newest)
        head = await self._database.read(lambda transaction: transaction.first(state))
        if head is None:
            return AuditReport(
                checked=0, first=0, last=0, head="", fault="the head of the chain is missing"
            )
        check, after, last = ChainCheck(anchor=anchor), 0, max(head.sequence, head.newest or 0)
        while rows := await self._page(after, last):
            for row in rows:
                check.read(_record(row))
            after = rows[-1].sequence
        return check.report(sequence=head.sequence, head=head.hash)

    async def _page(self, after: int, last: int) -> Sequence[Row[Any]]:
        wanted = (
            select(AUDIT)
            .where(AUDIT.c.sequence > after, AUDIT.c.sequence <= last)
            .order_by(AUDIT.c.sequence)
            .limit(_CHUNK)
        )
        return await self._database.read(lambda transaction: transaction.all(wanted))

    async def _first(self) -> int:
        oldest = select(func.min(AUDIT.c.sequence))
        row = await self._database.read(lambda transaction: transaction.first(oldest))
        return (row[0] if row else None) or 0


def select_records(
    after: int = 0,
    before: int | None = None,
    *,
    kind: str = "",
    tenant: str | None = None,
    newest_first: bool = False,
) -> Select[*tuple[Any, ...]]:
    """The query for the records of a page, in their order."""
    order = AUDIT.c.sequence.desc() if newest_first else AUDIT.c.sequence
    wanted = select(AUDIT).where(AUDIT.c.sequence > after).order_by(order)
    if before is not None:
        wanted = wanted.where(AUDIT.c.sequence < before)
    if kind:
        wanted = wanted.where(AUDIT.c.kind == clean_text(kind))
    if tenant is not None:
        wanted = wanted.where(AUDIT.c.tenant == clean_text(tenant))
        if tenant and kind in {"", "call"}:  # all records may be those of one tenant
            wanted = wanted.where(is_in_index(AUDIT.c.tenant, ""))
    return wanted


class SqlAuditor:
    """The listener that writes events into the audit trail, in order.

    Records that wait at the same time are written together. Records that could not be written are
    counted, and the next written one reports the number.
    """

    def __init__(self, database: StorageDatabase, *, redact: Redact, reads: ReadAudit) -> None:
        """Write to this database; with `reads`, calls that only read too."""
        self._database = database
        self._redact = redact
        self._audited = AuditEventFilter(redact, reads=reads)
        self._lock = threading.Lock()
        self._batch: _Batch | None = None
        self._losses = _Losses()

    @property
    def dropped(self) -> int:
        """The number of lost records."""
        return self._losses.total

    def on_event(self, event: Event) -> None:
        """Queue the audit record of an event for the next commit."""
        kept = self._audited.entry_of(event)
        if kept is None:
            return
        with self._lock:
            batch = self._batch
            if batch is not None and batch.take(kept):
                return
            batch = self._batch = _Batch(kept, self._redact, self._losses)
        # A gap in the trail is worse than a longer queue.
        self._database.post(batch.write, keep=True)


class _Losses:
    """Counts the records that could not be written, and those not yet reported in the trail.

    Only the writing thread changes it.
    """

    def __init__(self) -> None:
        self.total = 0
        self.untold = 0

    def note(self, records: int) -> None:
        """Add lost records."""
        self.total += records
        self.untold += records

    def take(self) -> int:
        """Take the number that the caller will report."""
        untold, self.untold = self.untold, 0
        return untold


class _Batch:
    """Records to be written in one transaction."""

    def __init__(self, first: RecordSnapshot | AuditEntry, redact: Redact, losses: _Losses) -> None:
        self._lock = threading.Lock()
        self._calls = [first]
        self._redact = redact
        self._losses = losses
        self._entries: Sequence[AuditEntry] | None = None
        self._written: AuditRecord | None = None
        self._telling = 0
        self._is_lost = False

    def take(self, kept: RecordSnapshot | AuditEntry) -> bool:
        """Add a record, unless writing has begun."""
        with self._lock:
            if self._entries is not None:
                return False
            self._calls.append(kept)
            return True

    def write(self, transaction: Transaction) -> None:
        """Write the records; safe to repeat, since an uncertain commit is looked up."""
        with self._lock:
            if self._entries is None:
                self._entries = entries_of(self._calls, self._redact)
                self._calls = []
            entries = self._entries
        if self._written is not None and _is_there(transaction, self._written):
            return
        self._telling += self._losses.take()
        lost = [gap_entry(self._telling, at=entries[0].at)] if self._telling else []
        refusals = (
            Unavailable,
            InvalidRequest,
            transaction.core.dialect.loaded_dbapi.IntegrityError,
        )
        try:
            with transaction.savepoint():
                self._written = append(transaction, [*lost, *entries])[0]
        except refusals as error:
            self._lose(len(entries))
            # Later does not help: the calls are still in the history, and this is counted.
            raise LookupError(str(error)) from error

    def _lose(self, records: int) -> None:
        self._losses.untold += self._telling
        self._telling = 0
        if not self._is_lost:  # it may be refused once among others, and once alone
            self._is_lost = True
            self._losses.note(records)


class _Old(Struct, frozen=True, kw_only=True):
    """The expired records, the oldest without a gap, and the end of the chain."""

    first: int
    last: AuditRecord
    head: int


def _old(transaction: Transaction, since: float) -> _Old | None:
    """The records before the first one from this time on."""
    kept = transaction.first(select(func.min(AUDIT.c.sequence)).where(AUDIT.c.at >= since))
    wanted = select(AUDIT)
    if kept is not None and kept[0] is not None:
        wanted = wanted.where(AUDIT.c.sequence < kept[0])
    last = transaction.first(wanted.order_by(AUDIT.c.sequence.desc()).limit(1))
    oldest = func.min(AUDIT.c.sequence).label("oldest")
    ends = transaction.first(select(oldest, func.max(AUDIT.c.sequence).label("newest")))
    if last is None or ends is None:
        return None
    return _Old(first=ends.oldest, last=_record(last), head=ends.newest)


def _declare(transaction: Transaction, entry: AuditEntry, old: _Old) -> AuditRecord | None:
    """Append the retention record before deleting; None if another server has just done so."""
    _lock_head(transaction)
    newer = select(AUDIT.c.sequence).where(AUDIT.c.sequence > old.head, AUDIT.c.kind == RETENTION)
    if transaction.first(newer.limit(1)) is not None:
        return None
    return append(transaction, (entry,))[0]


def append(transaction: Transaction, entries: Sequence[AuditEntry]) -> Sequence[AuditRecord]:
    """Append entries to the chain in the open transaction."""
    sequence, previous = _lock_head(transaction)
    records = link_records(entries, sequence=sequence, previous=previous)
    if records:
        transaction.quick_many(_ADD, [astuple(record) for record in records])
        transaction.quick(_MOVE, (records[-1].sequence, records[-1].hash, 1))
    return records


def _lock_head(transaction: Transaction) -> tuple[int, str]:
    """Lock the end of the chain; other servers wait, so that the sequence has no gaps."""
    head = transaction.quick(_HEAD, (1,)).fetchone()
    if head is None:
        raise Unavailable(
            "The newest record of the audit trail is missing: run 'pegboard audit verify'.",
            permanent=True,
        )
    return head[0], head[1]


def _is_there(transaction: Transaction, record: AuditRecord) -> bool:
    wanted = select(AUDIT.c.hash).where(AUDIT.c.sequence == record.sequence)
    found = transaction.first(wanted)
    return found is not None and found.hash == record.hash


def _record(row: Row[Any]) -> AuditRecord:
    return record_from_row(dict(zip(_COLUMNS, row, strict=True)))
