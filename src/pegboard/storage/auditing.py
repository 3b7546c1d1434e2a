"""Which calls the audit trail keeps, and what of them."""

import math
from collections.abc import Sequence

from pegboard.core.event import CallRecord
from pegboard.core.frozen import Frozen
from pegboard.core.ports.audit import AuditEntry
from pegboard.storage.rows import Redact, call_row

_KEPT = (
    "call_id",
    "tool",
    "version",
    "source",
    "handler",
    "effect",
    "principal",
    "tenant",
    "decision",
    "reason",
    "credential",
    "arguments_digest",
    "idempotency_key",
    "status",
    "attempts",
    "replayed",
    "duration_ms",
    "error_code",
    "error_id",
    "run_id",
    "parent_id",
)


def is_audited(record: CallRecord, *, reads: bool) -> bool:
    """Whether a call has to be provable: it changes something, was refused, or all are."""
    return reads or record.effect not in {"read", ""} or record.decision in {"deny", "ask"}


def call_entry(frozen: Frozen, redact: Redact) -> AuditEntry:
    """What is kept of a call: who did what under which decision, and how it ended."""
    row = call_row(frozen, keep_arguments=False, redact=redact)
    started_at, duration = frozen.record.started_at, row["duration_ms"]
    body = {name: row[name] for name in _KEPT}
    body["duration_ms"] = duration if math.isfinite(duration) else None
    return AuditEntry(
        kind="call",
        at=started_at if math.isfinite(started_at) else 0.0,
        tenant=row["tenant"],
        body=body,
    )


def call_entries(calls: Sequence[Frozen], redact: Redact) -> Sequence[AuditEntry]:
    """The same of several; one that cannot be redacted is kept without its reason."""
    entries: list[AuditEntry] = []
    for call in calls:
        try:
            entries.append(call_entry(call, redact))
        except Exception:  # noqa: BLE001 - the redactor is not ours, and a gap in the trail is worse
            entries.append(call_entry(call, _withheld))
    return entries


def _withheld(_: str) -> str:
    return ""
