"""Judging a call, at its step and again whenever it has waited; a denial is an error."""

from pegboard.access import Policy, Switches
from pegboard.access import decide as judge
from pegboard.access.decide import UNAVAILABLE
from pegboard.core.decision import Action, Decision, Verdict
from pegboard.core.tool import ToolSpec
from pegboard.errors import AccessDenied, PegboardError, SourceUnavailable
from pegboard.execution.call_state import CallState
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment

# kept here: a member of an enum takes longer to look up than it seems
_CALL, _DENY = Action.CALL, Verdict.DENY


def authorize(call: CallState, spec: ToolSpec, policy: Policy, switches: Switches) -> Decision:
    """What `decide` answers of this call now; a denial is the call's decision and its end.

    Raises:
        AccessDenied: It may not go on.
        SourceUnavailable: The tool cannot be used by anybody.
    """
    decision = judge(
        call.ctx.principal, spec, _CALL, call.arguments, policy=policy, switches=switches
    )
    if decision.verdict is _DENY:
        call.decision = decision
        raise _refusal(spec.name, decision)
    return decision


def reauthorize(call: CallState, target: CompiledTool, kit: CallEnvironment) -> None:
    """Judge a call that has waited: what was turned off meanwhile holds for it too.

    Raises:
        AccessDenied: It may not go on.
    """
    if kit.switches.any_off:
        authorize(call, target.spec, kit.policy, kit.switches)


def _refusal(tool: str, decision: Decision) -> PegboardError:
    """The error that a denial becomes."""
    if decision.rule == UNAVAILABLE:
        return SourceUnavailable(
            f"'{tool}' cannot be used: {decision.reason}", nothing_done=True, permanent=True
        )
    return AccessDenied(tool, decision.reason)
