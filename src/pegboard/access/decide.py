"""The one function that judges access."""

from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.access.kill_switches import Switches
from pegboard.access.policy import Policy
from pegboard.core.decision import Action, Decision, Verdict
from pegboard.core.principal import Principal
from pegboard.core.tool import Status, ToolSpec

UNAVAILABLE = "status.unavailable"
MAINTAINER_SCOPE = "catalogue:write"
"""Whoever has this scope looks after the tools of a board, those that are turned off included."""
_CALLABLE = (Status.ACTIVE, Status.DEPRECATED)


def decide(
    principal: Principal,
    tool: ToolSpec,
    action: Action,
    arguments: Mapping[str, Any] | None = None,  # noqa: ARG001 - part of the one signature that every door calls
    *,
    policy: Policy,
    switches: Switches,
) -> Decision:
    """Whether this caller may do this with this tool, and why.

    List, search, call, every door and the console ask here, and there is no second place.
    A tool that the caller may call after an approval is listed.

    Args:
        principal: Who asks.
        tool: What about.
        action: To see it or to call it.
        arguments: Validated arguments of a call, for rules that look at them.
        policy: The board's rules.
        switches: What is turned off now.
    """
    if tool.unavailable or tool.status not in _CALLABLE or tool.scopes or switches.any_off:
        for _, refusal in refusals(principal, tool, switches):
            if refusal is not None:
                return refusal
    standing = policy.decide(tool)
    if action is Action.LIST and standing.verdict is Verdict.ASK:
        return _LISTED
    return standing


def may_know(principal: Principal, tool: ToolSpec, *, policy: Policy, switches: Switches) -> bool:
    """Whether this caller would see the tool if it could be used.

    What cannot be used is not among the tools that a model is offered; whoever looks after the
    board has to find it all the same, with the reason. What is turned off is known to those alone:
    they roll it back or remove it before anybody turns it on.
    """
    if principal.has_scope(MAINTAINER_SCOPE):
        switches = Switches()
    if tool.unavailable or tool.status in {Status.DISABLED, Status.FAILED}:
        tool = tool.replace(unavailable="", status=Status.ACTIVE)
    return decide(principal, tool, Action.LIST, policy=policy, switches=switches).allowed


def refusals(
    principal: Principal, tool: ToolSpec, switches: Switches
) -> Iterator[tuple[str, Decision | None]]:
    """The checks that come before the policy, in order; a Decision where one says no."""
    yield "kill switches", switches.decision(tool)
    yield "status", _by_status(tool)
    yield "availability", _by_availability(tool)
    yield "scopes", _by_scopes(principal, tool)


def _by_status(tool: ToolSpec) -> Decision | None:
    if tool.status in _CALLABLE:
        return None
    return _deny(f"the tool is {tool.status.value}", f"status.{tool.status.value}")


def _by_availability(tool: ToolSpec) -> Decision | None:
    return _deny(tool.unavailable, UNAVAILABLE) if tool.unavailable else None


def _by_scopes(principal: Principal, tool: ToolSpec) -> Decision | None:
    missing = [scope for scope in tool.scopes if not principal.has_scope(scope)]
    if not missing:
        return None
    return _deny(f"the caller lacks the scope {', '.join(missing)}", "scopes")


def _deny(reason: str, rule: str) -> Decision:
    return Decision(verdict=Verdict.DENY, reason=reason, rule=rule)


_LISTED = Decision(
    verdict=Verdict.ALLOW,
    reason="may be called after an approval, so it is listed",
    rule="list.ask",
)
