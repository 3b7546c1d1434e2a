"""Which tools a caller may see, judged source by source."""

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from pegboard.access import decide
from pegboard.core.decision import Action
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
    if not principal.user:
        return lambda tool: may_see(tool, principal, environment)
    hides = cache(partial(environment.policy.resource_index.hides, principal))
    return lambda tool: not hides(tool.spec.source) and may_see(tool, principal, environment)
