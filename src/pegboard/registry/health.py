"""How tools are doing, given how the tools are doing that they need."""

from collections.abc import Iterable, Mapping

from pegboard.access import Switches
from pegboard.core.health import Health, HealthStatus
from pegboard.core.tool import Status, ToolSpec
from pegboard.registry.dependencies import DependencyGraph

UNKNOWN = Health(status=HealthStatus.UNKNOWN)
_GRAVITY = {
    HealthStatus.HEALTHY: 0,
    HealthStatus.UNKNOWN: 1,
    HealthStatus.DEGRADED: 2,
    HealthStatus.UNHEALTHY: 3,
}
_MOST_CAUSES = 3
_LONGEST_REASON = 500


def worse(one: Health, other: Health) -> Health:
    """The graver of two; the first when they are equally grave."""
    return other if _GRAVITY[other.status] > _GRAVITY[one.status] else one


def stated_health(spec: ToolSpec) -> Health:
    """What a tool's own definition says of it; unknown when it says nothing."""
    if spec.unavailable:
        return Health(status=HealthStatus.UNHEALTHY, reason=spec.unavailable)
    if spec.status in {Status.FAILED, Status.DISABLED}:
        return Health(status=HealthStatus.UNHEALTHY, reason=f"is {spec.status.value}")
    return UNKNOWN


def why_unavailable(spec: ToolSpec) -> str:
    """Why a tool cannot be used now by its own definition; empty when it can."""
    return stated_health(spec).reason


def with_switches(spec: ToolSpec, switches: Switches) -> ToolSpec:
    """The spec as of now: a tool that is turned off is unavailable, with the reason."""
    off = switches.decision(spec) if switches.any_off else None
    return spec if off is None else spec.replace(unavailable=f"is turned off: {off.reason}")


def propagated(graph: DependencyGraph, own: Mapping[str, Health]) -> dict[str, Health]:
    """The health of every tool of the graph, what it needs taken into account.

    A tool is degraded when something that it needs is unhealthy, or suffers from that itself; its
    reason tells why, down to the first cause. A tool that is degraded by itself, as by being slow,
    still serves those that need it.

    Args:
        graph: Which tool needs which.
        own: The health of single tools, by id; unknown where it is absent.
    """
    return _along(graph, graph.order(), own, {})


def updated(
    graph: DependencyGraph,
    own: Mapping[str, Health],
    known: Mapping[str, Health],
    changed: Iterable[str],
) -> dict[str, Health]:
    """What `propagated` would give, when only some tools of the same graph have changed.

    Args:
        graph: Which tool needs which.
        own: The health of single tools now.
        known: What was propagated before.
        changed: Ids of the tools whose own health is another now; unknown ones are left out.
    """
    touched: set[str] = set()
    for node in changed:
        if node in graph and node not in touched:
            touched |= {node, *graph.dependants(node, transitive=True)}
    return _along(graph, graph.only(touched).order(), own, known)


def _along(
    graph: DependencyGraph,
    order: Iterable[str],
    own: Mapping[str, Health],
    known: Mapping[str, Health],
) -> dict[str, Health]:
    result = dict(known)
    for node in order:
        mine = own.get(node, UNKNOWN)
        causes = [
            f"needs '{needed}', which is {_told(result[needed])}"
            for needed in graph.prerequisites(node)
            if result[needed].status is HealthStatus.UNHEALTHY
            or (result[needed].status is HealthStatus.DEGRADED and _suffers(needed, result, own))
        ]
        result[node] = _with_causes(mine, causes) if causes else mine
    return result


def _suffers(node: str, result: Mapping[str, Health], own: Mapping[str, Health]) -> bool:
    """Whether a degraded tool is so because of what it needs."""
    return result[node] != own.get(node, UNKNOWN)


def _with_causes(mine: Health, causes: list[str]) -> Health:
    if mine.status is HealthStatus.UNHEALTHY:
        return mine
    told = "; ".join(causes[:_MOST_CAUSES])
    if len(causes) > _MOST_CAUSES:
        told = f"{told}; and {len(causes) - _MOST_CAUSES} more"
    if mine.status is HealthStatus.DEGRADED and mine.reason:
        told = f"{mine.reason}; {told}"
    return Health(status=HealthStatus.DEGRADED, reason=_shortened(told))


def _told(health: Health) -> str:
    return f"{health.status.value}: {health.reason}" if health.reason else health.status.value


def _shortened(reason: str) -> str:
    """Long chains keep their beginning and their first cause, which stands at the end."""
    if len(reason) <= _LONGEST_REASON:
        return reason
    half = _LONGEST_REASON // 2
    return f"{reason[:half]} ... {reason[-half:]}"
