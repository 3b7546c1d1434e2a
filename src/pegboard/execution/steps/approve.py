"""Approve: a call that the policy asks about does not run before a person has said yes."""

from collections.abc import Coroutine
from typing import Any

from pegboard.core.decision import Verdict
from pegboard.core.result import ToolResult
from pegboard.errors import ApprovalRequired
from pegboard.execution.call import Handler, Run
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def approve(target: Target, kit: Kit, following: Handler) -> Handler:
    """There for tools that the policy asks about: of no other does `decide` ever answer ask."""
    name, standing = target.spec.name, kit.policy.standing(target.spec)
    if standing.verdict is not Verdict.ASK:
        return following

    def handle(call: Run) -> Coroutine[Any, Any, ToolResult]:
        decision = call.decision or standing
        if decision.verdict is Verdict.ASK:
            raise ApprovalRequired(name, decision.reason)
        return following(call)

    return handle
