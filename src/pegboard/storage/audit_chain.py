"""The audit chain: how records are linked, and how a change is found. The same in every storage."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct, ValidationError, convert, to_builtins

from pegboard.core.ports.audit_store import AuditEntry, AuditRecord, AuditReport
from pegboard.core.record_snapshot import clean_text
from pegboard.errors import InvalidRequest

BEGINNING = "0" * 64
"""What the first record has as the hash of the one before."""
RETENTION = "retention"


def canonical(value: Any) -> str:
    """JSON that is the same for the same value: sorted keys, no white space, plain ASCII.

    Raises:
        InvalidRequest: It is no JSON.
    """
    try:
        plain = to_builtins(value, str_keys=True)
        return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"an audit entry has to be JSON: {error}") from error


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


def as_found(row: Mapping[str, Any]) -> AuditRecord:
    """A record as it stands in a database, whatever somebody has made of it there.

    What is no text, and no number of seconds, is not what was hashed: that it was changed is found.
    """
    at = row["at"]
    is_time = isinstance(at, (int, float)) and math.isfinite(at)
    texts = {name: _text(row[name]) for name in ("kind", "tenant", "body", "previous", "hash")}
    return AuditRecord(sequence=row["sequence"], at=float(at) if is_time else -1.0, **texts)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if isinstance(value, str) else str(value)


def linked(entries: Iterable[AuditEntry], *, sequence: int, previous: str) -> Sequence[AuditRecord]:
    """The records that follow the one with this sequence and hash.

    Raises:
        InvalidRequest: An entry is no JSON.
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


def marker(forgotten: AuditRecord, *, first: int, since: float, by: str, at: float) -> AuditEntry:
    """What is said of records that are forgotten: enough for the next one to follow on.

    Args:
        forgotten: The newest of them.
        first: The sequence of the oldest.
        since: What is as old as this is kept.
        by: Who wants it so.
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


class _Marker(Struct, frozen=True, kw_only=True):
    """What a record says of those that are forgotten, as far as the next one needs it."""

    first: int
    last: int
    hash: str


class Check:
    """Reads a chain from its oldest record, and keeps the first fault."""

    def __init__(self, *, anchor: tuple[int, str] | None = None) -> None:
        """Expect the record that was noted elsewhere, if one was."""
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
            self._find(record.sequence, f"record {record.sequence} is not the one noted")
        if record.kind == RETENTION:
            self._remember(record)
        self._last = record

    def report(self, *, sequence: int, head: str) -> AuditReport:
        """What was found, when the newest record should be this one."""
        first, last = self._first, self._last
        if first is not None:
            self._begin(first)
        read = (0, BEGINNING) if last is None else (last.sequence, last.hash)
        if read != (sequence, head):
            missing = f"{read[0] + 1} to {sequence}" if read[0] < sequence else f"after {sequence}"
            fault = f"the newest records are not those that were written: {missing}"
            self._find(min(read[0], sequence) + 1, fault)
        if self._anchor is not None and self._anchor[0] > read[0]:
            self._find(self._anchor[0], f"record {self._anchor[0]}, which was noted, is missing")
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
        """Records before the first one are missing with a word, or without one."""
        if first.sequence == 1:
            if first.previous != BEGINNING:
                self._find(1, "record 1 is not the first that was written")
        elif not self._is_forgotten(first):
            which = _range(1, first.sequence - 1)
            self._find(1, f"{which} missing, and no retention record says so")

    def _is_forgotten(self, first: AuditRecord) -> bool:
        """Whether a record says that all before this one are gone, or that it will be gone too.

        What has been let go is deleted bit by bit, the oldest first: what is left of it hangs
        together with the rest as if it stayed.
        """
        _, digest = self._forgotten.get(first.sequence - 1, (0, ""))
        return digest == first.previous or any(
            begin <= first.sequence <= last for last, (begin, _) in self._forgotten.items()
        )

    def _remember(self, record: AuditRecord) -> None:
        try:
            said = convert(json.loads(record.body), _Marker)
        except (ValueError, RecursionError, ValidationError):
            return  # somebody has changed it: its hash says so
        self._forgotten[said.last] = (said.first, said.hash)

    def _find(self, sequence: int, fault: str) -> None:
        if not self._fault or (self._sequence is not None and sequence < self._sequence):
            self._fault, self._sequence = fault, sequence


def _range(first: int, last: int) -> str:
    return f"record {first} is" if first >= last else f"records {first} to {last} are"
