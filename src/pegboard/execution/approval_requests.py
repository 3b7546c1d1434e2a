"""What a person is asked before a call runs: bound to that very call, and shown without secrets."""

import json
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, cast

from msgspec import DecodeError
from msgspec import json as fast

from pegboard.core.context import Arguments
from pegboard.core.event import ApprovalChanged, digest_of
from pegboard.core.ports.approval_store import Approval, ApprovalQuery
from pegboard.core.tool import ToolSpec
from pegboard.execution.call_state import CallState
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.results.redaction import MASK, redacted_value

_LONGEST_SHOWN = 4_000
_KEY = re.compile(r"(?P<place>(?P<step>.+?):[\d.]+(?:\+\d+)?)(?::\d+)?(?::w\d+)?")
_SETTLED = frozenset({"used", "expired", "withdrawn"})


def call_digest(call: CallState, spec: ToolSpec, arguments_digest: str) -> str:
    """What makes a call the one that was approved: tool, version, arguments and principal.

    Within a run it is that place of that run, so that each node and each item has its own approval
    and none is used up by a call from elsewhere. A call that was cut off before it used its
    approval, and is made again, is still the one that was approved.
    """
    run_id, key = call.ctx.run_id, call.ctx.idempotency_key or ""
    found = _KEY.fullmatch(key.removeprefix(f"{run_id}:"))
    place = [run_id, f"{run_id}:{found['place']}" if found else key] if run_id else []
    return _hash(["call", spec.name, spec.version, call.owner, arguments_digest, *place])


def edited_digest(approval: Approval, arguments: Mapping[str, Any]) -> str:
    """What an edited approval is good for: the call that was asked about, with other arguments."""
    return _hash(["edited", approval.digest, digest_of(arguments)])


async def request_approval(
    call: CallState, spec: ToolSpec, kit: CallEnvironment, *, digest: str, reason: str
) -> Approval:
    """The approval that holds for this call, as it stands now; a new question where none holds.

    However often and from wherever it is asked at the same time, people see one question: the id
    follows from the call and from the approval before.

    Raises:
        Unavailable: It could not be stored; the call must not run.
    """
    page = await kit.approvals.approvals(ApprovalQuery(digest=digest, limit=1))
    found = page.approvals[0] if page.approvals else None
    while found is None or not _holds(found, kit.now()):
        question = _question(call, spec, kit, digest, reason, after=found.id if found else "")
        kept = await kit.approvals.ask(question)
        if kept.created_at == question.created_at and kept.used_at is None:
            if kit.emitter.is_heard:
                kit.emitter.emit(approval_changed(kept, at=kept.created_at))
            return kept
        found = kept
    return found


def approval_changed(approval: Approval, *, at: float) -> ApprovalChanged:
    """The event of an approval that came or is in another state."""
    return ApprovalChanged(
        approval_id=approval.id,
        state=approval.state,
        at=at,
        tool=approval.tool,
        digest=approval.edited_digest or approval.digest,
        principal=approval.principal,
        tenant=approval.tenant,
        version=approval.version,
        reason=approval.reason,
        by=approval.decided_by,
        note=approval.note,
        run_id=approval.run_id,
        call_id=approval.call_id,
    )


def _holds(approval: Approval, now: float) -> bool:
    """Whether nobody has to be asked anew: a refusal holds as long as the approval would have."""
    if approval.state in _SETTLED:
        return False
    return approval.expires_at is None or approval.expires_at > now


def _question(
    call: CallState, spec: ToolSpec, kit: CallEnvironment, digest: str, reason: str, *, after: str
) -> Approval:
    principal, now, ttl = call.ctx.principal, kit.now(), kit.settings.approval_ttl
    return Approval(
        id=f"ap_{_hash([digest, after])[:24]}",
        digest=digest,
        tool=spec.name,
        version=spec.version,
        principal=principal.id,
        tenant=principal.tenant,
        created_at=now,
        shown=shown(call.raw, spec, kit),
        reason=reason,
        run_id=call.ctx.run_id,
        node_id=_node(call),
        expires_at=now + ttl if ttl else None,
    )


def _node(call: CallState) -> str:
    """Which step of its run makes the call, as the key of its calls says; empty outside runs."""
    run_id, key = call.ctx.run_id, call.ctx.idempotency_key or ""
    found = _KEY.fullmatch(key.removeprefix(f"{run_id}:")) if run_id else None
    return found["step"] if found else ""


def shown(arguments: Arguments, spec: ToolSpec, kit: CallEnvironment) -> Any:
    """Arguments as a person is shown them: secrets masked, long texts cut."""
    value: Any = arguments
    if isinstance(arguments, (str, bytes)):
        try:
            value = fast.decode(arguments) if arguments else {}
        except (DecodeError, UnicodeDecodeError):
            value = {}
    value = _plain({} if value is None else value)
    if isinstance(value, dict):
        value = cast("dict[str, Any]", value) | {
            name: MASK for name in _secret_names(spec) if name in value
        }
    return value if kit.redact is None else redacted_value(value, kit.redact)


def _secret_names(spec: ToolSpec) -> list[str]:
    properties = cast("Mapping[str, Any]", spec.input_schema.get("properties") or {})
    return [
        name
        for name, node in properties.items()
        if isinstance(node, Mapping) and _is_secret(cast("Mapping[str, Any]", node))
    ]


def _is_secret(node: Mapping[str, Any]) -> bool:
    return node.get("writeOnly") is True or node.get("format") == "password"


def _plain(value: Any) -> Any:
    """As JSON; what is none, as text."""
    if isinstance(value, str):
        more = len(value) - _LONGEST_SHOWN
        return value if more <= 0 else f"{value[:_LONGEST_SHOWN]}… ({more} more characters)"
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {str(name): _plain(item) for name, item in items}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in cast("Iterable[Any]", value)]
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)  # JSON has no NaN and no infinity
    return _plain(str(value))


def _hash(parts: list[str]) -> str:
    return sha256(json.dumps(parts).encode()).hexdigest()
