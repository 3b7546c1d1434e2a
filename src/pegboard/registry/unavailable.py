"""Tools that are known and cannot be used now, with the reason."""

from dataclasses import replace

from pegboard.access import Switches, may_know
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import ToolSpec
from pegboard.registry.health import stated_health
from pegboard.registry.query import ToolQuery, matches
from pegboard.registry.registry import ToolRegistry


def unusable(
    registry: ToolRegistry, wanted: ToolQuery, *, principal: Principal = LOCAL
) -> list[ToolSpec]:
    """What passes the filters and is not offered, because nobody can use it now.

    What is turned off says so, and is found by those alone who look after the tools.

    Args:
        registry: The tools.
        wanted: The filters; words and the limit do not count.
        principal: For whom; hidden tools are never among them.
    """
    kit, filters = registry.kit, replace(wanted, query="")
    return [
        spec
        for spec in (with_switches(tool.spec, kit.switches) for tool in registry)
        if why_unusable(spec)
        and matches(spec, filters)
        and may_know(principal, spec, policy=kit.policy, switches=kit.switches)
    ]


def with_switches(spec: ToolSpec, switches: Switches) -> ToolSpec:
    """The tool as it can be used now: one that is turned off is unavailable, and says why."""
    off = switches.decision(spec) if switches.any_off else None
    return spec if off is None else spec.changed(unavailable=f"is turned off: {off.reason}")


def why_unusable(spec: ToolSpec) -> str:
    """Why a tool cannot be used now by its own definition; empty when it can."""
    return stated_health(spec).reason
