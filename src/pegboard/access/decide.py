"""`decide`: the one function that decides on access."""

from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.access.key_scopes import explain_missing_key_scope
from pegboard.access.kill_switches import Switches
from pegboard.access.policy import Policy
from pegboard.access.roles import explain_missing_role
from pegboard.core.argument_origin import ArgumentOrigins
from pegboard.core.decision import Action, Decision, Verdict
from pegboard.core.principal import Principal
from pegboard.core.tool import Status, ToolSpec

UNAVAILABLE = "status.unavailable"
HIDDEN = "visibility"
"""The rule of a denial that a caller gets as the answer for a tool that does not exist."""
MAINTAINER_SCOPE = "catalogue:write"
"""The scope of callers that maintain the tools of a board, including those that are turned off."""
_CALLABLE = (Status.ACTIVE, Status.DEPRECATED)


def decide(
    principal: Principal,
    tool: ToolSpec,
    action: Action,
    arguments: Mapping[str, Any] | None = None,
    *,
    policy: Policy,
    switches: Switches,
    untrusted: bool = False,
    origins: ArgumentOrigins | None = None,
) -> Decision:
    """Decide whether a caller may list or call a tool.

    List, search, call, every door and the console use this function. A tool that the caller may
    call after an approval is listed.

    Args:
        principal: The caller.
        tool: The tool.
        action: List or call.
        arguments: Validated arguments of a call, for rules that look at them; None where they are
            not known, and such rules do not count.
        policy: The rules of the board.
        switches: The active kill switches.
        untrusted: Whether the run or conversation of the call has read untrusted text.
        origins: Where the arguments of the call come from; None where that is not known.
    """
    if (
        tool.unavailable
        or tool.status not in _CALLABLE
        or tool.scopes
        or switches.any_off
        or principal.user
    ):
        for _, refusal in refusals(principal, tool, switches, policy):
            if refusal is not None:
                return refusal
    if policy.rules:
        standing = policy.decide_call(principal, tool, arguments, untrusted=untrusted)
    else:
        standing = policy.decide(tool)
    if untrusted:
        standing = policy.decide_untrusted(principal, tool, standing, origins=origins)
    if action is Action.LIST and standing.verdict is Verdict.ASK:
        return _LISTED
    return standing


def may_know(principal: Principal, tool: ToolSpec, *, policy: Policy, switches: Switches) -> bool:
    """Whether a caller may learn that a tool exists, even while it is unavailable.

    An unavailable tool is not offered to models, but callers that could use it find it with the
    reason. A tool that is turned off is known only to callers with `MAINTAINER_SCOPE`.
    """
    if principal.has_scope(MAINTAINER_SCOPE):
        switches = Switches()
    if tool.unavailable or tool.status in {Status.DISABLED, Status.FAILED}:
        tool = tool.replace(unavailable="", status=Status.ACTIVE)
    return decide(principal, tool, Action.LIST, policy=policy, switches=switches).allowed


def refusals(
    principal: Principal, tool: ToolSpec, switches: Switches, policy: Policy
) -> Iterator[tuple[str, Decision | None]]:
    """The checks before the policy, in order; with a Decision where a check denies."""
    seen = policy.resource_index.resolve_source(principal, tool.source) if principal.user else None
    if seen is not None:
        yield "visibility", None if seen.is_visible else _deny(seen.reason, HIDDEN)
    yield "kill switches", switches.decision(tool)
    yield "status", _by_status(tool)
    yield "availability", _by_availability(tool)
    yield "scopes", _by_scopes(principal, tool)
    if principal.user and (seen is None or seen.kind != "own"):  # one's own needs no role
        yield "roles", _by_roles(principal, tool, "" if seen is None else seen.organisation)
    if principal.user:
        yield "key", _by_key(principal, tool)


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


def _by_roles(principal: Principal, tool: ToolSpec, organisation: str) -> Decision | None:
    reason = explain_missing_role(principal, tool, organisation)
    return _deny(reason, "roles") if reason else None


def _by_key(principal: Principal, tool: ToolSpec) -> Decision | None:
    reason = explain_missing_key_scope(principal, tool.effect)
    return _deny(reason, "key") if reason else None


def _deny(reason: str, rule: str) -> Decision:
    return Decision(verdict=Verdict.DENY, reason=reason, rule=rule)


_LISTED = Decision(
    verdict=Verdict.ALLOW,
    reason="may be called after an approval, so it is listed",
    rule="list.ask",
)
