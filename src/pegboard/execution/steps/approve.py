"""Approve: a call that the policy asks about does not run before a person has said yes."""

from pegboard.core.decision import Verdict
from pegboard.core.result import ToolResult
from pegboard.errors import ApprovalRequired
from pegboard.execution.call import Handler, Run
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def approve(target: Target, kit: Kit, following: Handler) -> Handler:
    """There for tools that the policy asks about."""
    standing = kit.policy.standing(target.spec)
    if standing.verdict is not Verdict.ASK:
        return following

    async def handle(call: Run) -> ToolResult:  # noqa: ARG001 - no call passes without an approval
        raise ApprovalRequired(target.spec.name, standing.reason)

    return handle
