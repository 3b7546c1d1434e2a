"""Which tools a caller may see, judged source by source."""

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from pegboard.access import decide
from pegboard.core.decision import Action, Verdict
from pegboard.core.principal import Principal
from pegboard.core.tool import Tool

if TYPE_CHECKING:
    from pegboard.execution import CallEnvironment


def may_see(tool: Tool, principal: Principal, environment: "CallEnvironment") -> bool:
    """Whether a caller may see a tool."""
    policy, switches = environment.policy, environment.switches
    return decide(principal, tool.spec, Action.LIST, policy=policy, switches=switches).allowed


def make_filter(principal: Principal, environment: "CallEnvironment") -> Callable[[Tool], bool]:
    """Return `may_see` for many tools.

    Whether a source is hidden is found once for all of its tools. So a list takes nearly the same
    time, however many tools others have.
    """
    policy, switches = environment.policy, environment.switches
    verdict, is_listed = Verdict.ALLOW, Action.LIST

    def is_allowed(tool: Tool) -> bool:
        found = decide(principal, tool.spec, is_listed, policy=policy, switches=switches)
        return found.verdict is verdict

    if not principal.user:
        return is_allowed
    hides = cache(partial(policy.resource_index.hides, principal))
    return lambda tool: not hides(tool.spec.source) and is_allowed(tool)
