"""Authorization of a call, for the steps that may have to ask again; a denial is an error."""

from typing import NoReturn

from pegboard.access import decide
from pegboard.access.decide import HIDDEN, UNAVAILABLE
from pegboard.core.decision import Action, Decision, Verdict
from pegboard.core.tool import ToolSpec
from pegboard.errors import AccessDenied, ApprovalRequired, SourceUnavailable, ToolNotFound
from pegboard.execution.call_state import NO_ARGUMENTS, CallState
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment


def authorize(call: CallState, spec: ToolSpec, environment: CallEnvironment) -> Decision:
    """Decide about this call now; a denial becomes the call's decision and ends it.

    Before its arguments are validated, rules that look at them do not count.

    Raises:
        AccessDenied: The caller may not make this call.
        SourceUnavailable: The tool is unavailable to every caller.
    """
    decision = decide(
        call.ctx.principal,
        spec,
        Action.CALL,
        None if call.arguments is NO_ARGUMENTS else call.arguments,
        policy=environment.policy,
        switches=environment.switches,
        untrusted=call.taint is not None,
        origins=call.origins,
    )
    if decision.verdict is Verdict.DENY:
        refuse(call, spec, decision)
    return decision


def reauthorize(call: CallState, target: CompiledTool, environment: CallEnvironment) -> None:
    """Decide again after a wait: a tool that was turned off or withdrawn meanwhile does not run.

    Raises:
        AccessDenied: The caller may no longer make this call, or would need an approval for it.
    """
    may_have_changed = environment.switches.any_off or bool(call.ctx.principal.user)
    if may_have_changed or environment.policy.rules or call.taint is not None:
        decision = authorize(call, target.spec, environment)
        if decision.verdict is Verdict.ASK and call.approval is None:
            refuse(call, target.spec, decision)


def refuse(call: CallState, spec: ToolSpec, decision: Decision) -> NoReturn:
    """Record a denial on the call and raise it.

    Raises:
        AccessDenied: The policy, a kill switch, a status or a scope says no.
        ApprovalRequired: The call needs an approval, and nothing on its way can ask for one.
        SourceUnavailable: The tool is unavailable to every caller.
        ToolNotFound: The caller may not know of the source of the tool.
    """
    call.decision = decision
    if decision.rule == HIDDEN:
        raise ToolNotFound(spec.name)
    if decision.rule == UNAVAILABLE:
        raise SourceUnavailable(
            f"'{spec.name}' cannot be used: {decision.reason}", nothing_done=True, permanent=True
        )
    if decision.verdict is Verdict.ASK:
        raise ApprovalRequired(spec.name, decision.reason)
    raise AccessDenied(spec.name, decision.reason)
