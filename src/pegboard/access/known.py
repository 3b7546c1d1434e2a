"""Whether a caller may know of a tool, also while nobody can use it."""

from pegboard.access.decide import decide
from pegboard.access.kill_switches import Switches
from pegboard.access.policy import Policy
from pegboard.core.decision import Action
from pegboard.core.principal import Principal
from pegboard.core.tool import Status, ToolSpec

LOOKS_AFTER = "catalogue:write"
"""Whoever has this scope looks after the tools of a board, those that are turned off included."""
_NOTHING_OFF = Switches()


def may_know(principal: Principal, tool: ToolSpec, *, policy: Policy, switches: Switches) -> bool:
    """Whether this caller would see the tool if it could be used.

    What cannot be used is not among the tools that a model is offered; whoever looks after the
    board has to find it all the same, with the reason. What is turned off is known to those alone:
    they roll it back or remove it before anybody turns it on.
    """
    if principal.has_scope(LOOKS_AFTER):
        switches = _NOTHING_OFF
    if tool.unavailable or tool.status in {Status.DISABLED, Status.FAILED}:
        tool = tool.changed(unavailable="", status=Status.ACTIVE)
    return decide(principal, tool, Action.LIST, policy=policy, switches=switches).allowed
