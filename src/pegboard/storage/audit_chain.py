"""The audit chain: links records by hashes and finds changes; the same in every storage."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct, ValidationError, convert, to_builtins

from pegboard.core.ports.audit_store import AuditEntry, AuditRecord, AuditReport
from pegboard.core.record_snapshot import clean_text
from pegboard.errors import InvalidRequest

FIRST_PREVIOUS_HASH = "0" * 64
"""The previous hash of the first record."""
RETENTION = "retention"


def canonical(value: Any) -> str:
    """JSON that is the same for the same value: sorted keys, no white space, plain ASCII.

    Raises:
        InvalidRequest: It is not JSON.
    """
    try:
        plain = to_builtins(value, str_keys=True)
        return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"an audit entry must be JSON: {error}") from error


def hash_of(record: AuditRecord) -> str:
    """SHA-256 over everything in the record but its own hash."""
    parts = [
        record.sequence,
        record.at,
        record.kind,
        record.tenant,
        record.body,
        record.previous,
    ]
    return sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()


def record_from_row(row: Mapping[str, Any]) -> AuditRecord:
    """A record as it is in a database, even if it was tampered with.

    Values of a wrong type are converted, and the check then finds that the hash differs.
    """
    at = row["at"]
    is_time = isinstance(at, (int, float)) and math.isfinite(at)
    texts = {name: _text(row[name]) for name in ("kind", "tenant", "body", "previous", "hash")}
    return AuditRecord(sequence=row["sequence"], at=float(at) if is_time else -1.0, **texts)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if isinstance(value, str) else str(value)


def link_records(
    entries: Iterable[AuditEntry], *, sequence: int, previous: str
) -> Sequence[AuditRecord]:
    """Turn entries into records that follow the one with this sequence and hash.

    Raises:
        InvalidRequest: An entry is not JSON.
    """
    records: list[AuditRecord] = []
    for entry in entries:
        sequence += 1
        fields: dict[str, Any] = {
            "sequence": sequence,
            "at": float(entry.at),
            "kind": clean_text(entry.kind),
            "tenant": clean_text(entry.tenant),
            "body": canonical(entry.body),
            "previous": previous,
        }
        previous = hash_of(AuditRecord(hash="", **fields))
        records.append(AuditRecord(hash=previous, **fields))
    return records


def retention_entry(
    forgotten: AuditRecord, *, first: int, since: float, by: str, at: float
) -> AuditEntry:
    """The entry for deleted records, with what the next record needs to follow on.

    Args:
        forgotten: The newest deleted record.
        first: The sequence of the oldest.
        since: Records from this time on are kept.
        by: Who ordered the deletion.
        at: When.
    """
    body = {
        "by": by,
        "since": since,
        "first": first,
        "last": forgotten.sequence,
        "hash": forgotten.hash,
    }
    return AuditEntry(kind=RETENTION, at=at, body=body)


class _RetentionBody(Struct, frozen=True, kw_only=True):
    """The part of a retention entry that the check needs."""

    first: int
    last: int
    hash: str


class ChainCheck:
    """Checks a chain record by record, from the oldest, and remembers the first fault."""

    def __init__(self, *, anchor: tuple[int, str] | None = None) -> None:
        """Start a check; an anchor is a record noted elsewhere, which must be in the chain."""
        self._anchor = anchor
        self._first: AuditRecord | None = None
        self._last: AuditRecord | None = None
        self._checked = 0
        self._forgotten: dict[int, tuple[int, str]] = {}
        self._fault = ""
        self._sequence: int | None = None

    def read(self, record: AuditRecord) -> None:
        """The next record."""
        self._checked += 1
        if self._last is None:
            self._first = record
        else:
            self._follow(self._last, record)
        if hash_of(record) != record.hash:
            self._find(record.sequence, f"record {record.sequence} was changed")
        if (
            self._anchor is not None
            and self._anchor[0] == record.sequence
            and (self._anchor[1] != record.hash)
        ):
            self._find(record.sequence, f"record {record.sequence} differs from the anchor")
        if record.kind == RETENTION:
            self._remember(record)
        self._last = record

    def report(self, *, sequence: int, head: str) -> AuditReport:
        """The report, given the expected newest record."""
        first, last = self._first, self._last
        if first is not None:
            self._begin(first)
        read = (0, FIRST_PREVIOUS_HASH) if last is None else (last.sequence, last.hash)
        if read != (sequence, head):
            missing = f"{read[0] + 1} to {sequence}" if read[0] < sequence else f"after {sequence}"
            fault = f"the newest records are not those that were written: {missing}"
            self._find(min(read[0], sequence) + 1, fault)
        if self._anchor is not None and self._anchor[0] > read[0]:
            self._find(self._anchor[0], f"record {self._anchor[0]}, the anchor, is missing")
        return AuditReport(
            checked=self._checked,
            first=0 if first is None else first.sequence,
            last=read[0],
            head=read[1],
            fault=self._fault,
            sequence=self._sequence,
        )

    def _follow(self, before: AuditRecord, record: AuditRecord) -> None:
        expected = before.sequence + 1
        if record.sequence != expected:
            which = _range(expected, record.sequence - 1)
            self._find(expected, f"{which} missing before record {record.sequence}")
        elif record.previous != before.hash:
            self._find(
                record.sequence,
                f"record {record.sequence} does not follow record {before.sequence}: one of them "
                "was changed or moved",
            )

    def _begin(self, first: AuditRecord) -> None:
        """Check that records missing before the first one were deleted by retention."""
        if first.sequence == 1:
            if first.previous != FIRST_PREVIOUS_HASH:
                self._find(1, "record 1 is not the first that was written")
        elif not self._is_forgotten(first):
            which = _range(1, first.sequence - 1)
            self._find(1, f"{which} missing, and no retention record says so")

    def _is_forgotten(self, first: AuditRecord) -> bool:
        """Whether a retention record covers the records before this one, or this one too.

        Expired records are deleted in chunks, the oldest first, so that some of them may still be
        there.
        """
        _, digest = self._forgotten.get(first.sequence - 1, (0, ""))
        return digest == first.previous or any(
            begin <= first.sequence <= last for last, (begin, _) in self._forgotten.items()
        )

    def _remember(self, record: AuditRecord) -> None:
        try:
            said = convert(json.loads(record.body), _RetentionBody)
        except (ValueError, RecursionError, ValidationError):
            return  # somebody has changed it: its hash says so
        self._forgotten[said.last] = (said.first, said.hash)

    def _find(self, sequence: int, fault: str) -> None:
        if not self._fault or (self._sequence is not None and sequence < self._sequence):
            self._fault, self._sequence = fault, sequence


def _range(first: int, last: int) -> str:
    return f"record {first} is" if first >= last else f"records {first} to {last} are"
