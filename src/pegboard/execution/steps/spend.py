"""Spend: an approval lets one call through, and is used up right before it runs.

It stands below everything that may turn a call away, so that nothing but running uses it up.
"""

from pegboard.core.decision import Verdict
from pegboard.core.result import ToolResult
from pegboard.errors import ApprovalRequired
from pegboard.execution.approvals import approval_changed, asked
from pegboard.execution.call import Handler, Run
from pegboard.execution.judging import decide_again
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def spend(target: Target, kit: Kit, following: Handler) -> Handler:
    """There where `approve` is."""
    spec, standing = target.spec, kit.policy.standing(target.spec)
    if standing.verdict is not Verdict.ASK:
        return following

    async def handle(call: Run) -> ToolResult:
        approval = call.approval
        if approval is None:  # only what `decide` does not ask about comes here without one
            return await following(call)
        decide_again(call, target, kit)
        used = await kit.approvals.use(
            approval.id,
            digest=approval.edited_digest or approval.digest,
            call_id=call.id,
        )
        if used is None:  # another call was first, or its time has passed meanwhile
            reason = approval.reason
            new = await asked(call, spec, kit, digest=approval.digest, reason=reason)
            raise ApprovalRequired(spec.name, reason, approval_id=new.id)
        if kit.emitter.is_heard:
            kit.emitter.emit(approval_changed(used, at=used.used_at or kit.now()))
        decide_again(call, target, kit)
        return await following(call)

    return handle
