"""The health of tools, with that of their prerequisites taken into account."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from pegboard.access import Switches, may_know
from pegboard.core.health import Health, HealthStatus
from pegboard.core.principal import Principal
from pegboard.core.tool import Status, Tool, ToolSpec
from pegboard.registry.dependencies import DependencyGraph
from pegboard.registry.search import ToolQuery, matches

if TYPE_CHECKING:
    from pegboard.execution import CallEnvironment

UNKNOWN = Health(status=HealthStatus.UNKNOWN)
_GRAVITY = {
    HealthStatus.HEALTHY: 0,
    HealthStatus.UNKNOWN: 1,
    HealthStatus.DEGRADED: 2,
    HealthStatus.UNHEALTHY: 3,
}
_MAX_CAUSES = 3
_MAX_REASON = 500


def worse(one: Health, other: Health) -> Health:
    """The worse of two; the first when they are equal."""
    return other if _GRAVITY[other.status] > _GRAVITY[one.status] else one


def health_by_definition(spec: ToolSpec) -> Health:
    """The health that a tool's own definition states; unknown when it states none."""
    if spec.unavailable:
        return Health(status=HealthStatus.UNHEALTHY, reason=spec.unavailable)
    if spec.status in {Status.FAILED, Status.DISABLED}:
        return Health(status=HealthStatus.UNHEALTHY, reason=f"is {spec.status.value}")
    return UNKNOWN


def why_unavailable(spec: ToolSpec) -> str:
    """Why a tool is unavailable by its own definition; empty when it is available."""
    return health_by_definition(spec).reason


def with_switches(spec: ToolSpec, switches: Switches) -> ToolSpec:
    """The spec as of now: a tool that is turned off is unavailable, with the reason."""
    off = switches.decision(spec) if switches.any_off else None
    return spec if off is None else spec.replace(unavailable=f"is turned off: {off.reason}")


def list_unavailable(
    tools: Iterable[Tool], filters: ToolQuery, principal: Principal, environment: "CallEnvironment"
) -> Iterator[ToolSpec]:
    """The specs as of now of the tools that are unavailable by their own definition, or off.

    Args:
        tools: Which may be among them.
        filters: The filters that they must pass.
        principal: Who may know of them.
        environment: The policy and the switches.
    """
    policy, switches = environment.policy, environment.switches
    for tool in tools:
        spec = with_switches(tool.spec, switches)
        if (
            why_unavailable(spec)
            and matches(spec, filters)
            and may_know(principal, spec, policy=policy, switches=switches)
        ):
            yield spec


def propagate_health(graph: DependencyGraph, own: Mapping[str, Health]) -> dict[str, Health]:
    """The health of every tool of the graph, with its prerequisites taken into account.

    A tool is degraded when a prerequisite is unhealthy, or degraded for such a reason; its own
    reason names the chain down to the first cause. A prerequisite that is degraded by itself, for
    example slow, does not count.

    Args:
        graph: The dependencies.
        own: The health of single tools by id; a missing one is unknown.
    """
    return _along(graph, graph.order(), own, {})


def update_health(
    graph: DependencyGraph,
    own: Mapping[str, Health],
    known: Mapping[str, Health],
    changed: Iterable[str],
) -> dict[str, Health]:
    """The result of `propagate_health` after some tools of the same graph have changed.

    Args:
        graph: The dependencies.
        own: The health of single tools now.
        known: The previous result.
        changed: Ids of the tools whose own health has changed; unknown ids are ignored.
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
            f"needs '{needed}', which is {_describe(result[needed])}"
            for needed in graph.prerequisites(node)
            if result[needed].status is HealthStatus.UNHEALTHY
            or (result[needed].status is HealthStatus.DEGRADED and _suffers(needed, result, own))
        ]
        result[node] = _with_causes(mine, causes) if causes else mine
    return result


def _suffers(node: str, result: Mapping[str, Health], own: Mapping[str, Health]) -> bool:
    """Whether a tool is degraded because of its prerequisites."""
    return result[node] != own.get(node, UNKNOWN)


def _with_causes(mine: Health, causes: list[str]) -> Health:
    if mine.status is HealthStatus.UNHEALTHY:
        return mine
    told = "; ".join(causes[:_MAX_CAUSES])
    if len(causes) > _MAX_CAUSES:
        told = f"{told}; and {len(causes) - _MAX_CAUSES} more"
    if mine.status is HealthStatus.DEGRADED and mine.reason:
        told = f"{mine.reason}; {told}"
    return Health(status=HealthStatus.DEGRADED, reason=_shorten(told))


def _describe(health: Health) -> str:
    return f"{health.status.value}: {health.reason}" if health.reason else health.status.value


def _shorten(reason: str) -> str:
    """Cut the middle of a long chain, and keep its beginning and its first cause."""
    if len(reason) <= _MAX_REASON:
        return reason
    half = _MAX_REASON // 2
    return f"{reason[:half]} ... {reason[-half:]}"
