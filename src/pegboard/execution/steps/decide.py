"""Decide: may this caller do this; the answer and its reason go into the record."""

from collections.abc import Coroutine
from typing import Any

from pegboard.access import decide as judge
from pegboard.access.decide import UNAVAILABLE
from pegboard.core.decision import Action, Decision, Verdict
from pegboard.core.result import ToolResult
from pegboard.errors import AccessDenied, PegboardError, SourceUnavailable
from pegboard.execution.call import Handler, Run
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def decide(target: Target, kit: Kit, following: Handler) -> Handler:
    """Always there."""
    spec, policy, switches = target.spec, kit.policy, kit.switches
    # read here: a member of an enum takes longer to look up than it seems
    action, deny = Action.CALL, Verdict.DENY

    def handle(call: Run) -> Coroutine[Any, Any, ToolResult]:
        decision = judge(
            call.ctx.principal,
            spec,
            action,
            call.arguments,
            policy=policy,
            switches=switches,
        )
        call.decision = decision
        if decision.verdict is deny:
            raise refusal(spec.name, decision)
        return following(call)

    return handle


def decide_again(call: Run, target: Target, kit: Kit) -> None:
    """Judge a call that has waited: what was turned off meanwhile holds for it too.

    Raises:
        AccessDenied: It may not go on.
    """
    if not kit.switches.any_off:
        return
    decision = judge(
        call.ctx.principal,
        target.spec,
        Action.CALL,
        call.arguments,
        policy=kit.policy,
        switches=kit.switches,
    )
    if decision.verdict is Verdict.DENY:
        call.decision = decision
        raise refusal(target.spec.name, decision)


def refusal(tool: str, decision: Decision) -> PegboardError:
    """The error that a denial becomes."""
    if decision.rule == UNAVAILABLE:
        return SourceUnavailable(
            f"'{tool}' cannot be used: {decision.reason}", nothing_done=True, permanent=True
        )
    return AccessDenied(tool, decision.reason)
