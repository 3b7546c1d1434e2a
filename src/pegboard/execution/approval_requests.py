"""Approval requests: bound to one call, and shown to people without secrets."""

import json
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, cast

from msgspec import DecodeError, Struct, structs
from msgspec import json as fast

from pegboard.core.context import Arguments
from pegboard.core.event import ApprovalChanged, digest_of
from pegboard.core.ports.approval_store import Approval, ApprovalQuery
from pegboard.core.ports.conversation_store import ConversationGrant
from pegboard.core.tool import ToolSpec
from pegboard.errors import CredentialMissing
from pegboard.execution.call_state import CallState
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.results.redaction import MASK, redact_value

_MAX_SHOWN = 4_000
_KEY = re.compile(r"(?P<place>(?P<step>.+?):[\d.]+(?:\+\d+)?)(?::\d+)?(?::w\d+)?")
_SETTLED = frozenset({"used", "expired", "withdrawn"})
GRANTED = "approved for the rest of the conversation"


class ApprovalSubject(Struct, frozen=True, kw_only=True):
    """What an approval is asked for.

    Attributes:
        digest: Of the call, as of `digest_call`.
        arguments_digest: Of its arguments alone.
        definition_digest: Of the definition of its tool.
        reason: Why the policy asks.
        by: Who may decide it, as of `Decision.by`.
        rule: The rule that asks, as of `Decision.rule`.
        account: The account that the call acts with, as of `Credential.account`; empty for none.
        is_single: Whether no standing approval answers it, as where the run has read untrusted text
            or another person has to decide.
    """

    digest: str
    arguments_digest: str
    definition_digest: str
    reason: str
    by: str = ""
    rule: str = ""
    account: str = ""
    is_single: bool = False


def digest_call(call: CallState, spec: ToolSpec, arguments_digest: str) -> str:
    """Digest of the call that an approval is for: tool, version, arguments and principal.

    Within a run it includes the place in that run, so that each node and each item has its own
    approval. A call that was cut off before it used its approval and is made again has the same
    digest.
    """
    run_id, key = call.ctx.run_id, call.ctx.idempotency_key or ""
    found = _KEY.fullmatch(key.removeprefix(f"{run_id}:"))
    place = [run_id, f"{run_id}:{found['place']}" if found else key] if run_id else []
    acts_with = [] if call.credential is None else [call.credential.about.account]
    return _hash(
        ["call", spec.name, spec.version, call.owner, arguments_digest, *place, *acts_with]
    )


def digest_edited_call(approval: Approval, arguments: Mapping[str, Any]) -> str:
    """Digest of the call that an edited approval is for: the requested one with other arguments."""
    return _hash(["edited", approval.digest, digest_of(arguments)])


async def find_grant(
    call: CallState, spec: ToolSpec, environment: CallEnvironment, *, subject: ApprovalSubject
) -> ConversationGrant | None:
    """The standing approval that covers this call; None when a person has to be subject.

    It stands in the conversation of the call's run and of the call's own principal. None covers a
    tool that may destroy something, what another person must approve, or what is asked because the
    run has read untrusted text.
    """
    if not call.ctx.run_id or spec.may_destroy or subject.is_single:
        return None
    conversation = await environment.conversation_of(call.ctx.run_id)
    if conversation is None or not conversation.belongs_to(call.ctx.principal):
        return None
    return next(
        (
            grant
            for grant in conversation.grants
            if grant.covers(
                tool=spec.name,
                definition_digest=subject.definition_digest,
                reason=subject.reason,
                arguments_digest=subject.arguments_digest,
                account=subject.account,
            )
        ),
        None,
    )


async def request_approval(
    call: CallState,
    spec: ToolSpec,
    environment: CallEnvironment,
    *,
    subject: ApprovalSubject,
    grant: ConversationGrant | None = None,
) -> Approval:
    """The approval of this call in its current state; a new request where none holds.

    A standing approval answers the request at once, so that each call has an approval of its own.

    The id follows from the call and the previous approval, so that concurrent requests for one call
    are one request.

    Raises:
        Unavailable: The request could not be stored; the call must not run.
    """
    page = await environment.approvals.approvals(ApprovalQuery(digest=subject.digest, limit=1))
    found = page.approvals[0] if page.approvals else None
    while found is None or not _holds(found, environment.now()):
        question = _question(call, spec, environment, subject, after=found.id if found else "")
        if grant is not None:
            question = structs.replace(
                question,
                state="approved",
                decided_at=question.created_at,
                decided_by=grant.granted_by,
                note=GRANTED,
                grant=grant.id,
            )
        kept = await environment.approvals.ask(question)
        if kept.created_at == question.created_at and kept.used_at is None:
            if environment.emitter.has_listeners:
                environment.emitter.emit(approval_changed(kept, at=kept.created_at))
            return kept
        found = kept
    if grant is not None and found.state == "pending":  # asked before the grant was given
        found = await decide_by_grant(found, grant, environment)
    return found


async def request_connection(
    call: CallState, spec: ToolSpec, environment: CallEnvironment, *, missing: CredentialMissing
) -> Approval:
    """The request to connect an account: one for all calls with it by one caller in one run.

    Raises:
        Unavailable: The request could not be stored.
    """
    principal, now, ttl = call.ctx.principal, environment.now(), environment.settings.approval_ttl
    account = [missing.account] if missing.account else []
    digest = _hash(["connection", spec.source, call.owner, call.ctx.run_id, *account])
    page = await environment.approvals.approvals(ApprovalQuery(digest=digest, limit=1))
    found = page.approvals[0] if page.approvals else None
    while found is None or found.state == "approved" or not _holds(found, now):
        question = Approval(
            id=f"ap_{_hash([digest, found.id if found else ''])[:24]}",
            digest=digest,
            kind="connection",
            source=spec.source,
            account_name=missing.account,
            tool=spec.name,
            version=spec.version,
            principal=principal.id,
            tenant=principal.tenant,
            created_at=now,
            shown={},
            reason=missing.reason,
            run_id=call.ctx.run_id,
            node_id=_node(call),
            expires_at=now + ttl if ttl else None,
        )
        kept = await environment.approvals.ask(question)
        if kept.created_at == now and kept.state == "pending":
            if environment.emitter.has_listeners:
                environment.emitter.emit(approval_changed(kept, at=now))
            return kept
        found = kept
    return found


async def decide_by_grant(
    approval: Approval, grant: ConversationGrant, environment: CallEnvironment
) -> Approval:
    """Approve a pending request that a standing approval covers; its state then."""
    outcome = await environment.approvals.decide(
        approval.id, "approved", by=grant.granted_by, note=GRANTED, grant=grant.id
    )
    decided = outcome.approval or approval
    if outcome.applied and environment.emitter.has_listeners:
        at = decided.decided_at or environment.now()
        environment.emitter.emit(approval_changed(decided, at=at))
    return decided


def approval_changed(approval: Approval, *, at: float) -> ApprovalChanged:
    """The event of an approval that was made or has changed its state."""
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
    """Whether no new request is needed. A refusal holds as long as an approval would."""
    if approval.state in _SETTLED:
        return False
    return approval.expires_at is None or approval.expires_at > now


def _question(
    call: CallState,
    spec: ToolSpec,
    environment: CallEnvironment,
    subject: ApprovalSubject,
    *,
    after: str,
) -> Approval:
    principal, now, ttl = call.ctx.principal, environment.now(), environment.settings.approval_ttl
    return Approval(
        id=f"ap_{_hash([subject.digest, after])[:24]}",
        digest=subject.digest,
        arguments_digest=subject.arguments_digest,
        definition_digest=subject.definition_digest,
        tool=spec.name,
        version=spec.version,
        principal=principal.id,
        tenant=principal.tenant,
        created_at=now,
        shown=mask_arguments(call.raw, spec, environment),
        reason=subject.reason,
        by=subject.by,
        rule=subject.rule,
        taint=call.taint,
        origins=call.origins.arguments if call.origins is not None else (),
        is_single=subject.is_single,
        run_id=call.ctx.run_id,
        node_id=_node(call),
        expires_at=now + ttl if ttl else None,
        credential="" if call.credential is None else call.credential.about.label,
        account=subject.account,
    )


def _node(call: CallState) -> str:
    """The step of the run that makes the call, from its idempotency key; empty outside runs."""
    run_id, key = call.ctx.run_id, call.ctx.idempotency_key or ""
    found = _KEY.fullmatch(key.removeprefix(f"{run_id}:")) if run_id else None
    return found["step"] if found else ""


def mask_arguments(arguments: Arguments, spec: ToolSpec, environment: CallEnvironment) -> Any:
    """The arguments as people see them: secrets masked, long texts cut."""
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
    return value if environment.redact is None else redact_value(value, environment.redact)


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
    """The value as JSON; a value without a JSON form as text."""
    if isinstance(value, str):
        more = len(value) - _MAX_SHOWN
        return value if more <= 0 else f"{value[:_MAX_SHOWN]}… ({more} more characters)"
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
