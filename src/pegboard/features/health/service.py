"""The `BoardHealth` service: health of tools and sources, from calls, checks and needs."""

from collections.abc import Callable
from typing import Any

from pegboard.core.event import BoardChanged, CallRecord, Event, SourceChanged
from pegboard.core.health import Health, HealthStatus
from pegboard.core.ports.clock import Clock
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import ToolSpec
from pegboard.features.health.replacements import Replacements
from pegboard.planning.tool_health import UNKNOWN, ToolHealth
from pegboard.registry import ToolRegistry
from pegboard.registry.dependencies import DependencyGraph
from pegboard.registry.health import health_by_definition, propagate_health
from pegboard.registry.health_stats import HealthStats

_SPARE = 1000
"""Number of removed tools that may be tracked before they are forgotten."""
_PASSING = frozenset({"rate_limited", "overloaded", "host_unavailable"})
"""Errors that say nothing about the tool: the board delayed the call, or an address given by the
caller is unavailable."""
_FAIR_MS = 1000.0


class BoardHealth:
    """Listens to calls and sources; the planner's `Knowledge`.

    Args:
        registry: The tools of the board.
        clock: Measures the age of observations.
        graph: Returns the current dependency graph.
        seen: Returns the last known spec of a tool that is gone; None if unknown.

    Attributes:
        replacements: Proposes substitutes for tools.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        clock: Clock,
        graph: Callable[[], DependencyGraph],
        seen: Callable[[str], ToolSpec | None] = lambda _: None,
    ) -> None:
        self._registry = registry
        self._observed = HealthStats(clock)
        self._graph = graph
        self.replacements = Replacements(registry, health=self.tool, seen=seen)
        self._specs: dict[str, ToolSpec] = {}

    def on_event(self, event: Event) -> None:
        """Record finished calls, listed sources and changed tools."""
        if isinstance(event, CallRecord):
            self._record_call(event)
        elif isinstance(event, SourceChanged):
            self._record_listing(event)
        elif isinstance(event, BoardChanged) and event.kind == "catalogue":
            self._forget_changed(event)

    def record_source_check(self, source: str, health: Health) -> None:
        """Record the result of a health check of a source."""
        self._observed.record_source_check(source, health)

    def forget_source(self, name: str) -> None:
        """Forget a source and its tools, because it was removed or opened again."""
        self._observed.forget_source(name)
        for id_, spec in list(self._specs.items()):
            if spec.source == name:
                self.forget(id_)

    def forget(self, tool_id: str) -> None:
        """Forget a tool, because it was removed or replaced."""
        self._specs.pop(tool_id, None)
        self._observed.forget(tool_id)

    def source(self, name: str, *, principal: Principal | None = None) -> Health:
        """Return the known health of a source, without checking it.

        Args:
            name: The source.
            principal: The caller, whom the reason tells nothing of tools that it may not see; None
                for an operator.
        """
        tools = {tool.spec.id: tool for tool in self._registry.list_sources(LOCAL).get(name, ())}

        def may_tell(tool: str) -> bool:
            return principal is None or self._registry.may_see(tools[tool], principal)

        return self._observed.source(name, tools=tools, may_tell=may_tell)

    def own(self, tool_id: str) -> Health:
        """Return the health of a tool without its needs; a missing tool is unhealthy."""
        tool = self._registry.find(tool_id)
        if tool is None:
            return Health(status=HealthStatus.UNHEALTHY, reason="there is no such tool")
        spec = tool.spec
        self._take(spec)
        stated = health_by_definition(spec)
        seen = self._observed.tool(spec.id, source=spec.source)
        return seen if stated.status is HealthStatus.UNKNOWN else stated

    def tool(self, tool_id: str) -> Health:
        """Return the health of a tool, including the health of the tools it needs."""
        graph = self._graph()
        if tool_id not in graph:
            return self.own(tool_id)
        part = graph.only((tool_id, *graph.prerequisites(tool_id, transitive=True)))
        own = {node: self.own(node) for node in part.nodes}
        return propagate_health(part, own)[tool_id]

    def health_of(self, tool: str) -> ToolHealth:
        """Return the health and figures of a tool, for a planner."""
        found = self._registry.find(tool)
        if found is None:
            return UNKNOWN
        health = self.tool(found.spec.id)
        figures = self._observed.figures(found.spec.id)
        return ToolHealth(
            health=health.status.value,
            reason=health.reason,
            latency_ms=figures.latency_ms,
            failures=figures.failures,
        )

    def seconds(self, tool: str) -> float | None:
        """Return how long a tool usually takes; None if it was never called."""
        found = self._registry.find(tool)
        took = None if found is None else self._observed.figures(found.spec.id).latency_ms
        return None if took is None else took / 1000

    def to_dict(self, tool_id: str) -> dict[str, Any]:
        """Return everything known about the health of a tool, as JSON-compatible data."""
        health, own = self.tool(tool_id), self.own(tool_id)
        figures = self._observed.figures(tool_id)
        return {
            "tool_id": tool_id,
            "status": health.status.value,
            "reason": health.reason,
            "own_status": own.status.value,
            "own_reason": own.reason,
            "calls": figures.calls,
            "failures": figures.failures,
            "latency_ms": figures.latency_ms,
        }

    def _record_call(self, record: CallRecord) -> None:
        if record.cached or record.replayed or not record.attempts:
            return
        if record.about_caller:
            return
        failed = record.status in {"failed", "unavailable"} and record.error_code not in _PASSING
        if not (failed or record.status == "completed"):
            return
        tool = self._registry.find(record.tool)
        if tool is None or (record.version and record.version != tool.spec.version):
            return  # another version says nothing about this one
        if failed and _had_short_deadline(record, tool.spec):
            return
        self._take(tool.spec)
        reason = (record.error_message or record.error_code or "it failed") if failed else ""
        self._observed.record_call(tool.spec.id, failure=reason, took_ms=record.duration_ms)

    def _record_listing(self, event: SourceChanged) -> None:
        if event.status == "ok":
            # a list shows that it is reachable, not that it works: only checks and calls do
            self._observed.record_source_recovery(event.source)
            return
        bad = event.status == "degraded"
        status = HealthStatus.DEGRADED if bad else HealthStatus.UNHEALTHY
        self._observed.record_source_check(event.source, Health(status=status, reason=event.reason))

    def _forget_changed(self, event: BoardChanged) -> None:
        """Forget the tools whose names have another current version now."""
        versions = event.detail.get("versions", {})
        names = {name for name, it in versions.items() if it["before"] != it["after"]}
        for id_, spec in list(self._specs.items()):
            if spec.name in names:
                self.forget(id_)

    def _take(self, spec: ToolSpec) -> None:
        """Track the tool of an id; observations of a previous tool are dropped."""
        before = self._specs.get(spec.id)
        if before is spec:
            return
        if before is not None and before != spec:
            self._observed.forget(spec.id)
        self._specs[spec.id] = spec
        if len(self._specs) > 2 * len(self._registry) + _SPARE:
            specs = list(self._specs.items())
            self._specs = {id_: it for id_, it in specs if id_ in self._registry}
            self._observed.retain(self._specs.__contains__)


def _had_short_deadline(record: CallRecord, spec: ToolSpec) -> bool:
    """Whether a caller gave the call less than a second, and less than the tool's own timeout.

    Otherwise one impatient caller would make the tool unhealthy for everyone.
    """
    own = _FAIR_MS if spec.timeout is None else spec.timeout * 1000
    return record.error_code == "timeout" and record.duration_ms < min(_FAIR_MS, own)
