"""Approval: a call that the policy asks about runs only after a person has approved it.

A call without an approval ends with `ApprovalRequired` and holds nothing; the caller makes it again
once the approval is given. `approve` finds the approval, and `spend` uses it up: right before the
tool runs, below every step that may still refuse the call.
"""

from collections.abc import Coroutine
from typing import Any

from pegboard.core.decision import Decision, Verdict
from pegboard.core.ports.approval_store import Approval
from pegboard.core.result import ToolResult
from pegboard.errors import AccessDenied, ApprovalRequired
from pegboard.execution.approval_requests import (
    approval_changed,
    call_digest,
    edited_digest,
    request_approval,
)
from pegboard.execution.authorization import authorize, reauthorize
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.idempotency.fingerprint import fingerprint_of


def approve(target: CompiledTool, kit: CallEnvironment, following: Handler) -> Handler:
    """There for tools that the policy asks about: of no other does `decide` ever answer ask."""
    spec, standing = target.spec, kit.policy.decide(target.spec)
    if standing.verdict is not Verdict.ASK:
        return following
    fingerprint = fingerprint_of(spec)

    async def ask(call: CallState, decision: Decision) -> ToolResult:
        digest = call_digest(call, spec, fingerprint(call))
        approval = await request_approval(call, spec, kit, digest=digest, reason=decision.reason)
        match approval.state:
            case "approved":
                call.approval = approval
            case "edited":
                _take_edited(call, approval, target)
                authorize(call, spec, kit)
            case "denied":
                raise _refused(call, approval)
            case _:
                raise ApprovalRequired(spec.name, decision.reason, approval_id=approval.id)
        return await following(call)

    def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
        decision = call.decision or standing
        if decision.verdict is Verdict.ASK:
            return ask(call, decision)
        return following(call)

    return handle


def spend(target: CompiledTool, kit: CallEnvironment, following: Handler) -> Handler:
    """There where `approve` is."""
    spec, standing = target.spec, kit.policy.decide(target.spec)
    if standing.verdict is not Verdict.ASK:
        return following

    async def handle(call: CallState) -> ToolResult:
        approval = call.approval
        if approval is None:  # only what `decide` does not ask about comes here without one
            return await following(call)
        reauthorize(call, target, kit)
        used = await kit.approvals.use(
            approval.id,
            digest=approval.edited_digest or approval.digest,
            call_id=call.id,
        )
        if used is None:  # another call was first, or its time has passed meanwhile
            reason = approval.reason
            new = await request_approval(call, spec, kit, digest=approval.digest, reason=reason)
            raise ApprovalRequired(spec.name, reason, approval_id=new.id)
        if kit.emitter.is_heard:
            kit.emitter.emit(approval_changed(used, at=used.used_at or kit.now()))
        reauthorize(call, target, kit)
        return await following(call)

    return handle


def _take_edited(call: CallState, approval: Approval, target: CompiledTool) -> None:
    """Go on with what the approver wants instead; records and caches see that too.

    Raises:
        ToolArgumentError: It does not fit the tool.
        ApprovalRequired: It is not what was approved.
    """
    edited = approval.edited
    if edited_digest(approval, edited) != approval.edited_digest:
        raise ApprovalRequired(call.name, "the edited arguments are not those that were approved")
    call.raw, call.arguments = edited, target.read(edited)
    call.approval = approval


def _refused(call: CallState, approval: Approval) -> AccessDenied:
    """What a person's no becomes."""
    reason = f"{approval.decided_by or 'somebody'} refused it"
    if approval.note:
        reason = f"{reason}: {approval.note}"
    call.decision = Decision(verdict=Verdict.DENY, reason=reason, rule="approval.denied")
    return AccessDenied(call.name, reason)
