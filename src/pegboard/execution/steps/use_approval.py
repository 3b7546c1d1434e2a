"""Spend: an approval lets one call through, and is used up right before it runs.

It stands below everything that may turn a call away, so that nothing but running uses it up.
"""

from pegboard.core.decision import Verdict
from pegboard.core.result import ToolResult
from pegboard.errors import ApprovalRequired
from pegboard.execution.approval_requests import approval_changed, request_approval
from pegboard.execution.authorization import reauthorize
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment


def spend(target: CompiledTool, kit: CallEnvironment, following: Handler) -> Handler:
    """There where `approve` is."""
    spec, standing = target.spec, kit.policy.standing(target.spec)
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
