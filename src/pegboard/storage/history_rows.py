"""The rows of the history: one JSON-compatible mapping per call, the same in every storage."""

from collections.abc import Callable
from typing import Any

from pegboard.core.event import CallRecord, CallStarted
from pegboard.core.principal import Principal
from pegboard.core.record_snapshot import RecordSnapshot, clean_text

Redact = Callable[[str], str]
"""Takes secrets out of a text."""

UNKNOWN = "unknown"
MAX_TEXT = 65_536
_FREE_TEXT = ("reason", "error_message")


def redact_nothing(text: str) -> str:
    """A `Redact` that changes nothing."""
    return text


def call_row(frozen: RecordSnapshot, *, keep_arguments: bool, redact: Redact) -> dict[str, Any]:
    """The history row of a finished call."""
    row = frozen.to_dict()
    for name in _FREE_TEXT:
        row[name] = redact(row[name])
    if keep_arguments:
        row["arguments"] = redact(frozen.arguments)[:MAX_TEXT]
    return row


def start_row(event: CallStarted) -> dict[str, Any]:
    """The history row of a started write, until its record comes."""
    record = CallRecord(
        call_id=event.call_id,
        tool=event.tool,
        status=UNKNOWN,
        started_at=event.started_at,
        duration_ms=0.0,
        principal=Principal(id=event.principal, tenant=event.tenant),
        version=event.version,
        source=event.source,
        effect=event.effect,
        reason="started, outcome unknown",
        run_id=event.run_id,
        parent_id=event.parent_id,
        idempotency_key=event.idempotency_key,
        decision=event.decision,
        instead_of=event.instead_of,
    )
    return RecordSnapshot(record=record, digest=event.arguments_digest).to_dict()


def detail_row(record: CallRecord, redact: Redact) -> dict[str, Any]:
    """The detail that operators find under an error id."""
    return {
        "error_id": clean_text(record.error_id),
        "call_id": clean_text(record.call_id),
        "tool": clean_text(record.tool),
        "source": clean_text(record.source),
        "at": record.started_at,
        "code": clean_text(record.error_code),
        "message": redact(clean_text(record.error_message)),
        "detail": redact(clean_text(record.error_detail))[:MAX_TEXT],
    }
