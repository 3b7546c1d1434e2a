"""How tools and sources are doing: by what is seen of calls, checks and what they need."""

from collections import deque
from collections.abc import Callable
from typing import Any

from pegboard.core.event import CallRecord, Event, SourceChanged
from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.core.ports.clock import Clock
from pegboard.planning.knowledge import UNKNOWN, Standing
from pegboard.registry import ToolRegistry
from pegboard.registry.dependencies import DependencyGraph
from pegboard.registry.health import propagated, stated_health
from pegboard.registry.observed import Observed

_LAST = 50
_PASSING = frozenset({"rate_limited", "overloaded"})
"""What says nothing of the tool: the board itself held the call back."""


class BoardHealth:
    """Listens to calls and sources; a planner's `Knowledge`.

    Args:
        registry: The board's tools.
        clock: Says how old things are.
        graph: The dependency graph as it is now.
    """

    def __init__(
        self, registry: ToolRegistry, *, clock: Clock, graph: Callable[[], DependencyGraph]
    ) -> None:
        self._registry = registry
        self._observed = Observed(clock)
        self._graph = graph
        self._calls: dict[str, deque[tuple[float, float]]] = {}

    def on_event(self, event: Event) -> None:
        """Take note of a call that ended, and of a source that was listed."""
        if isinstance(event, CallRecord):
            self._called(event)
        elif isinstance(event, SourceChanged):
            self._listed(event)

    def checked_source(self, source: str, health: Health) -> None:
        """A source was asked how it is doing, and said this."""
        self._observed.checked_source(source, health)

    def source(self, name: str) -> Health:
        """How a source is doing, without asking it."""
        ids = [tool.spec.id for tool in self._registry if tool.spec.source == name]
        return self._observed.source(name, tools=ids)

    def own(self, tool_id: str) -> Health:
        """How a tool is doing by itself; one that is gone is unhealthy."""
        tool = self._registry.find(tool_id)
        if tool is None:
            return Health(status=HealthStatus.UNHEALTHY, reason="there is no such tool now")
        spec = tool.spec
        stated = stated_health(spec)
        seen = self._observed.tool(spec.id, source=spec.source)
        return seen if stated.status is HealthStatus.UNKNOWN else stated

    def tool(self, tool_id: str) -> Health:
        """How a tool is doing, what it needs taken into account."""
        graph = self._graph()
        if tool_id not in graph:
            return self.own(tool_id)
        part = graph.only((tool_id, *graph.prerequisites(tool_id, transitive=True)))
        own = {node: self.own(node) for node in part.nodes}
        return propagated(part, own)[tool_id]

    def standing(self, tool: str) -> Standing:
        """How the tool of this wire name has been doing, for a planner."""
        found = self._registry.find(tool)
        if found is None:
            return UNKNOWN
        health = self.tool(found.spec.id)
        failures, latency = self._figures(found.spec.id)
        return Standing(
            health=health.status.value,
            reason=health.reason,
            latency_ms=latency,
            failures=failures,
        )

    def to_dict(self, tool_id: str) -> dict[str, Any]:
        """All that is known of a tool's health, as JSON-compatible data."""
        health, own = self.tool(tool_id), self.own(tool_id)
        failures, latency = self._figures(tool_id)
        return {
            "tool_id": tool_id,
            "status": health.status.value,
            "reason": health.reason,
            "own_status": own.status.value,
            "own_reason": own.reason,
            "calls": len(self._calls.get(tool_id, ())),
            "failures": failures,
            "latency_ms": latency,
        }

    def _called(self, record: CallRecord) -> None:
        if record.cached or record.replayed or not record.attempts:
            return
        failed = record.status in {"failed", "unavailable"} and record.error_code not in _PASSING
        if not (failed or record.status == "completed"):
            return
        tool = self._registry.find(record.tool)
        if tool is None:
            return
        id_ = tool.spec.id
        reason = (record.error_message or record.error_code or "it failed") if failed else ""
        self._observed.called(id_, failure=reason)
        calls = self._calls.get(id_)
        if calls is None:
            calls = self._calls[id_] = deque(maxlen=_LAST)
        calls.append((1.0 if failed else 0.0, record.duration_ms))

    def _listed(self, event: SourceChanged) -> None:
        status = {"ok": HealthStatus.HEALTHY, "degraded": HealthStatus.DEGRADED}.get(
            event.status, HealthStatus.UNHEALTHY
        )
        known = HEALTHY if status is HealthStatus.HEALTHY else None
        health = known or Health(status=status, reason=event.reason)
        self._observed.checked_source(event.source, health)

    def _figures(self, tool_id: str) -> tuple[float | None, float | None]:
        """The share of failures and the median of durations of its latest calls."""
        calls = list(self._calls.get(tool_id, ()))
        if not calls:
            return None, None
        went_well = sorted(took for failed, took in calls if not failed)
        latency = went_well[len(went_well) // 2] if went_well else None
        return round(sum(failed for failed, _ in calls) / len(calls), 3), latency
