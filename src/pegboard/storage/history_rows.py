"""The rows of the history: one JSON-compatible mapping per call, the same in every storage."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pegboard.core.event import CallRecord, CallStarted, RunErrorNoted
from pegboard.core.ports.call_stores import CallTotals, TotalsQuery
from pegboard.core.principal import Principal
from pegboard.core.record_snapshot import RecordSnapshot, clean_text

Redact = Callable[[str], str]
"""Takes secrets out of a text."""

UNKNOWN = "unknown"
MAX_TEXT = 65_536
MAX_TIMED = 2_000
"""The newest calls, from whose durations the quantiles are taken."""
TIMED = frozenset({"completed", "failed"})
"""The states of calls that ran to their end."""
_FAILED = frozenset({"failed", "unavailable"})
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
        attempts=0,
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


def run_detail_row(event: RunErrorNoted, redact: Redact) -> dict[str, Any]:
    """The same for an error of a run that is none of a call."""
    return {
        "error_id": clean_text(event.error_id),
        "run_id": clean_text(event.run_id),
        "step": clean_text(event.step),
        "at": event.at,
        "code": clean_text(event.code),
        "message": redact(clean_text(event.message)),
        "detail": redact(clean_text(event.detail))[:MAX_TEXT],
    }


def slot_seconds(query: TotalsQuery) -> int:
    """The length of one part of the time, in whole seconds."""
    return max(1, math.ceil((query.until - query.since) / query.slots))


def sum_calls(
    query: TotalsQuery, counts: Iterable[tuple[int, str, int]], durations: Sequence[float]
) -> CallTotals:
    """The totals of counted calls.

    Args:
        query: What was asked for.
        counts: Part of the time, state, number of calls.
        durations: Of the newest calls that ran to their end, in milliseconds.
    """
    calls, failed = [0] * query.slots, [0] * query.slots
    for slot, status, number in counts:
        place = min(max(slot, 0), query.slots - 1)
        calls[place] += number
        failed[place] += number if status in _FAILED else 0
    ordered = sorted(durations)
    return CallTotals(
        calls=sum(calls),
        failed=sum(failed),
        p50_ms=_quantile(ordered, 0.5),
        p95_ms=_quantile(ordered, 0.95),
        slots=tuple(zip(calls, failed, strict=True)),
    )


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    return ordered[math.ceil(len(ordered) * share) - 1] if ordered else None
