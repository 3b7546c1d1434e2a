"""The entries of the audit trail: calls, decisions, and changes of the board."""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

from msgspec import structs, to_builtins

from pegboard.core.event import (
    ApprovalChanged,
    BoardChanged,
    CallRecord,
    CallStarted,
    Event,
    SourceChanged,
)
from pegboard.core.ports.audit_store import AuditEntry
from pegboard.core.record_snapshot import RecordSnapshot, clean_text, freeze
from pegboard.errors import AuditUnavailable, Unavailable, shorten_name
from pegboard.storage.audit_chain import RETENTION
from pegboard.storage.history_rows import Redact, call_row

_FIELDS = (
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
    "instead_of",
)

_LEFT_OUT = frozenset({"at", "kind", "stack"})


ReadAudit = Literal["none", "remote", "all"]
"""Which calls that only read are audited: none, those that leave the process, or all."""

_REMOTE = ("openapi", "sql", "mcp")
"""Handlers whose calls leave the process; what follows a space names the route."""


def is_audited(*, effect: str, decision: str, handler: str, reads: ReadAudit) -> bool:
    """Whether a call belongs in the audit trail: it changes something, was refused, or all do."""
    if effect not in {"read", ""} or decision in {"deny", "ask"}:
        return True
    return reads == "all" or (reads == "remote" and handler.partition(" ")[0] in _REMOTE)


def call_entry(frozen: RecordSnapshot, redact: Redact) -> AuditEntry:
    """The audit entry of a call: who called what under which decision, and the outcome."""
    row = call_row(frozen, keep_arguments=False, redact=redact)
    started_at, duration = frozen.record.started_at, row["duration_ms"]
    body = {name: row[name] for name in _FIELDS}
    body["duration_ms"] = duration if math.isfinite(duration) else None
    return AuditEntry(
        kind="call",
        at=started_at if math.isfinite(started_at) else 0.0,
        tenant=row["tenant"],
        body=body,
    )


class StartFilter:
    """Decides which starts of calls are stored before they run, and makes their audit entries."""

    def __init__(self, redact: Redact, *, required: bool, reads: ReadAudit) -> None:
        """Store starts of writes; with `required`, of all audited calls in the trail."""
        self._redact = redact
        self._required = required
        self._reads: ReadAudit = reads

    def wants(self, *, effect: str, decision: str, handler: str) -> bool:
        """Whether the start of such a call must be stored before it runs."""
        return in_history(effect) or self._in_trail(effect, decision, handler)

    def entry(self, event: CallStarted) -> AuditEntry | None:
        """The audit entry to write before the call runs; None where it is not required."""
        if not self._in_trail(event.effect, event.decision, event.handler):
            return None
        body = _redact(to_builtins(event), self._redact)
        at = event.started_at if math.isfinite(event.started_at) else 0.0
        kept = {name: value for name, value in body.items() if name != "started_at"}
        return AuditEntry(kind="start", at=at, tenant=body["tenant"], body=kept)

    def _in_trail(self, effect: str, decision: str, handler: str) -> bool:
        return self._required and is_audited(
            effect=effect, decision=decision, handler=handler, reads=self._reads
        )


def in_history(effect: str) -> bool:
    """Whether the history stores the start of such a call, since its outcome may stay unknown."""
    return effect != "read"


def start_not_audited(tool: str, error: Unavailable) -> AuditUnavailable:
    """The error for a call whose start could not be written to the audit trail."""
    return AuditUnavailable(
        f"'{shorten_name(tool)}' was not run: its start could not be written to the audit trail "
        f"first. {error.message}",
        retry_after=error.retry_after,
        nothing_done=True,
        permanent=not error.retryable,
    )


class AuditEventFilter:
    """Selects the events of the audit trail; of a source only changes of its status.

    What it returns is immutable, so that it may wait in a queue.
    """

    def __init__(
        self, redact: Redact, *, reads: ReadAudit, now: Callable[[], float] = time.time
    ) -> None:
        """Include these calls that only read; `now` is the time of source changes."""
        self._redact = redact
        self._reads: ReadAudit = reads
        self._now = now
        self._sources: dict[str, SourceChanged] = {}

    def entry_of(self, event: Event) -> RecordSnapshot | AuditEntry | None:
        """What the trail keeps of an event; None if it is not audited."""
        match event:
            case CallRecord():
                return freeze(event) if self._is_kept(event) else None
            case ApprovalChanged():
                return self._entry("approval", event.at, event)
            case BoardChanged():
                # the store's own kind says that records are gone
                kind = "board" if event.kind == RETENTION else event.kind
                return self._entry(kind, event.at, event)
            case SourceChanged():
                # a stack differs each time that the same thing fails
                now = structs.replace(event, stack="")
                known, self._sources[event.source] = self._sources.get(event.source), now
                return None if known == now else self._entry("source", self._now(), now)
            case _:
                return None

    def _is_kept(self, event: CallRecord) -> bool:
        return is_audited(
            effect=event.effect,
            decision=event.decision,
            handler=event.handler,
            reads=self._reads,
        )

    def _entry(
        self, kind: str, at: float, event: ApprovalChanged | BoardChanged | SourceChanged
    ) -> AuditEntry:
        body = _redact(to_builtins(event, str_keys=True), self._redact)
        kept = {name: value for name, value in body.items() if name not in _LEFT_OUT}
        at = at if math.isfinite(at) else 0.0
        return AuditEntry(kind=kind, at=at, tenant=body.get("tenant", ""), body=kept)


def _redact(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        return clean_text(redact(value))
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {name: _redact(item, redact) for name, item in items}
    if isinstance(value, (list, tuple)):
        return [_redact(item, redact) for item in cast("list[Any]", value)]
    return value


def entries_of(kept: Sequence[RecordSnapshot | AuditEntry], redact: Redact) -> Sequence[AuditEntry]:
    """The entries of several events; a call that cannot be redacted is kept without its reason."""
    entries: list[AuditEntry] = []
    for call in kept:
        if isinstance(call, AuditEntry):
            entries.append(call)
            continue
        try:
            entries.append(call_entry(call, redact))
        except Exception:  # noqa: BLE001 - the redactor is not ours, and a gap in the trail is worse
            entries.append(call_entry(call, _withheld))
    return entries


def gap_entry(records: int, *, at: float) -> AuditEntry:
    """The entry that counts records that could not be written."""
    return AuditEntry(kind="audit", at=at, body={"action": "lost", "records": records})


def _withheld(_: str) -> str:
    return ""
