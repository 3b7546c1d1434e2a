"""Tools that are known and cannot be used now, with the reason."""

from dataclasses import replace

from pegboard.access import may_know
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import ToolSpec
from pegboard.registry.health import stated_health
from pegboard.registry.query import ToolQuery, matches
from pegboard.registry.registry import ToolRegistry


def unusable(
    registry: ToolRegistry, wanted: ToolQuery, *, principal: Principal = LOCAL
) -> list[ToolSpec]:
    """What passes the filters and is not offered, because nobody can use it now.

    Args:
        registry: The tools.
        wanted: The filters; words and the limit do not count.
        principal: For whom; hidden tools are never among them.
    """
    kit, filters = registry.kit, replace(wanted, query="")
    return [
        spec
        for spec in (tool.spec for tool in registry)
        if why_unusable(spec)
        and matches(spec, filters)
        and may_know(principal, spec, policy=kit.policy, switches=kit.switches)
    ]


def why_unusable(spec: ToolSpec) -> str:
    """Why a tool cannot be used now by its own definition; empty when it can."""
    return stated_health(spec).reason
