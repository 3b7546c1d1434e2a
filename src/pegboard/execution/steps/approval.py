"""Approval: a call that the policy asks about runs only after a person has approved it.

A call without an approval ends with `ApprovalRequired` and holds nothing; the caller makes it again
once the approval is given. `approve` finds the approval, and `spend` uses it up: right before the
tool runs, below every step that may still refuse the call. A tool that fails has used it up, also
one that fails for want of a credential or of its rights: part of its work may be done.
"""

from collections.abc import Coroutine
from functools import cache, partial
from typing import Any

from pegboard.core.decision import Decision, Verdict
from pegboard.core.ports.approval_store import Approval
from pegboard.core.principal import LOCAL
from pegboard.core.result import ToolResult
from pegboard.errors import AccessDenied, ApprovalRequired
from pegboard.execution.approval_requests import (
    ApprovalSubject,
    approval_changed,
    digest_call,
    digest_edited_call,
    find_grant,
    request_approval,
)
from pegboard.execution.authorization import authorize, reauthorize
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.idempotency.fingerprint import fingerprint_of
from pegboard.schemas.tool_definition import definition_digest


def approve(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """For tools that the policy may ask about; `decide` refuses other calls that need it."""
    spec, policy = target.spec, environment.policy
    if not policy.may_ask(spec):
        return following
    standing = policy.decide(spec)
    fingerprint = fingerprint_of(spec)
    find_definition = cache(partial(definition_digest, spec))  # with the first call that asks

    async def ask(call: CallState, decision: Decision) -> ToolResult:
        arguments = fingerprint(call)
        reason, account = decision.reason, ""
        if call.credential is not None:  # a standing approval covers no other account
            about = call.credential.about
            whose = await environment.handle_of(about.owner) or about.owner
            account = about.account
            reason = f"{reason}, with the account {about.describe(whose)}"
        subject = ApprovalSubject(
            digest=digest_call(call, spec, arguments),
            arguments_digest=arguments,
            definition_digest=find_definition(),
            reason=reason,
            by=decision.by,
            rule=decision.rule,
            account=account,
            is_single=bool(decision.by) or policy.asks_for_trust(decision),
        )
        grant = await find_grant(call, spec, environment, subject=subject)
        approval = await request_approval(call, spec, environment, subject=subject, grant=grant)
        match approval.state:
            case "approved":
                call.approval = approval
            case "edited":
                _apply_edit(call, approval, target)
                authorize(call, spec, environment)
            case "denied":
                raise await _make_refusal(call, approval, environment)
            case _:
                raise ApprovalRequired(spec.name, decision.reason, approval_id=approval.id)
        return await following(call)

    def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
        decision = call.decision or standing
        if decision.verdict is Verdict.ASK:
            return ask(call, decision)
        return following(call)

    return handle


def spend(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """Where `approve` is."""
    spec = target.spec
    if not environment.policy.may_ask(spec):
        return following

    async def handle(call: CallState) -> ToolResult:
        approval = call.approval
        if approval is None:  # an allowed call needs none
            return await following(call)
        reauthorize(call, target, environment)
        used = await environment.approvals.use(
            approval.id,
            digest=approval.edited_digest or approval.digest,
            call_id=call.id,
        )
        if used is None:  # used by another call, or expired meanwhile
            subject = ApprovalSubject(
                digest=approval.digest,
                arguments_digest=approval.arguments_digest,
                definition_digest=approval.definition_digest,
                reason=approval.reason,
                by=approval.by,
                rule=approval.rule,
                account=approval.account,
                is_single=approval.is_single,
            )
            new = await request_approval(call, spec, environment, subject=subject)
            raise ApprovalRequired(spec.name, approval.reason, approval_id=new.id)
        if environment.emitter.has_listeners:
            environment.emitter.emit(approval_changed(used, at=used.used_at or environment.now()))
        reauthorize(call, target, environment)
        return await following(call)

    return handle


def _apply_edit(call: CallState, approval: Approval, target: CompiledTool) -> None:
    """Continue with the arguments that the approver has edited, also for records and caches.

    Raises:
        ToolArgumentError: They do not fit the tool.
        ApprovalRequired: They are not those that were approved.
    """
    edited = approval.edited
    if digest_edited_call(approval, edited) != approval.edited_digest:
        raise ApprovalRequired(call.name, "the edited arguments are not those that were approved")
    call.raw, call.arguments = edited, target.read(edited)
    call.approval = approval


async def _make_refusal(
    call: CallState, approval: Approval, environment: CallEnvironment
) -> AccessDenied:
    """The error for a call that a person has refused, with the person's name."""
    by = approval.decided_by
    name = "the user" if by == LOCAL.id else by and (await environment.name_of(by) or by)
    reason = f"{name or 'somebody'} refused it"
    if approval.note:
        reason = f"{reason}: {approval.note}"
    call.decision = Decision(verdict=Verdict.DENY, reason=reason, rule="approval.denied")
    return AccessDenied(call.name, reason)
