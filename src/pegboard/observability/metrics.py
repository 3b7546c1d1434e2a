"""Prometheus metrics of calls, runs and approvals."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pegboard.core.event import (
    ApprovalChanged,
    CallRecord,
    Event,
    NodeReported,
    RunEnded,
    StepEnded,
)
from pegboard.core.ports.maintenance import Counts
from pegboard.errors import ConfigError
from pegboard.observability.scrape_gauges import Gauges, ScrapeGauges, Sources

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Histogram

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_RUN_BUCKETS = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400)
_RUN_OUTCOMES = ("completed", "failed", "cancelled")
_STEP_OUTCOMES = (*_RUN_OUTCOMES, "skipped")
_DECISIONS = ("approved", "denied", "edited", "expired")
_TOKENS = ("input", "output", "cached")
_REFUSED = frozenset({"invalid", "denied", "approval_needed"})
_NOT_FOUND = "tool_not_found"
_UNKNOWN = "unknown"
_OTHER = "other"


class Metrics:
    """Counts calls by tool, runs and approvals, and reads process metrics at each scrape.

    ```python
    metrics = Metrics()
    registry = ToolRegistry([letter_counter], listeners=[metrics])
    print(metrics.render().decode())
    ```

    Labels are bounded: a call of an unregistered name counts as `unknown`, and tools beyond
    `max_tools` as `other`. Each instance has a registry of its own.

    Attributes:
        counts: Open runs and approvals in the storage, set before each scrape; None leaves these
            metrics out.
    """

    content_type = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(
        self,
        *,
        in_flight: Gauges | None = None,
        dropped: Gauges | None = None,
        sources: Sources | None = None,
        max_tools: int = 10_000,
    ) -> None:
        """Start at zero.

        Args:
            in_flight: Returns the calls in flight by tool; None leaves this metric out.
            dropped: Returns the events lost by each listener; None leaves this metric out.
            sources: Returns the state of each source; None leaves these metrics out.
            max_tools: Number of tools with a label of their own.

        Raises:
            ConfigError: `prometheus_client` is not installed.
        """
        try:
            import prometheus_client as prometheus
        except ImportError as error:
            raise ConfigError(
                "Metrics need prometheus_client: pip install 'pegboard[server]'"
            ) from error
        self._registry: CollectorRegistry = prometheus.CollectorRegistry()
        self._max_tools = max_tools
        self._known: set[str] = set()
        self._calls = prometheus.Counter(
            "pegboard_calls",
            "Calls by tool, source and outcome.",
            ["tool", "source", "status"],
            registry=self._registry,
        )
        self._failures = prometheus.Counter(
            "pegboard_call_failures",
            "Calls that ended in an error, by tool and error code.",
            ["tool", "code"],
            registry=self._registry,
        )
        self._durations = prometheus.Histogram(
            "pegboard_call_duration_seconds",
            "How long calls took that were not refused, from the door of the pipeline to its end.",
            ["tool"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._by_outcome: dict[tuple[str, str, str], Counter] = {}
        self._by_code: dict[tuple[str, str], Counter] = {}
        self._by_tool: dict[str, Histogram] = {}
        self.counts: Counts | None = None
        self._runs = RunMetrics(self._registry)
        self._models = ModelMetrics(self._registry)
        looked = ScrapeGauges(
            in_flight=in_flight, dropped=dropped, sources=sources, counts=lambda: self.counts
        )
        self._registry.register(looked)
        prometheus.ProcessCollector(registry=self._registry)

    def on_event(self, event: Event) -> None:
        """Count a finished call, step or run, or a decision."""
        if isinstance(event, NodeReported):
            self._models.on_event(event)
            return
        if not isinstance(event, CallRecord):
            self._runs.on_event(event)
            return
        tool, source = self._names(event)
        outcome = (tool, source, event.status)
        counter = self._by_outcome.get(outcome)
        if counter is None:
            counter = self._by_outcome[outcome] = self._calls.labels(*outcome)
        counter.inc()
        if event.status not in _REFUSED:
            self._time(tool, event.duration_ms / 1000)
        if event.error_code:
            self._count_failure((tool, event.error_code))

    def retain(self, is_there: Callable[[str], bool]) -> None:
        """Drop the metrics of all tools but these, by wire name."""
        gone = {tool for tool in list(self._known) if not is_there(tool)}
        if not gone:
            return
        self._known -= gone
        for outcome in [key for key in list(self._by_outcome) if key[0] in gone]:
            del self._by_outcome[outcome]
            self._calls.remove(*outcome)
        for failure in [key for key in list(self._by_code) if key[0] in gone]:
            del self._by_code[failure]
            self._failures.remove(*failure)
        for tool in gone & self._by_tool.keys():
            del self._by_tool[tool]
            self._durations.remove(tool)

    def render(self) -> bytes:
        """Return all metrics in Prometheus' text format; see `content_type`."""
        from prometheus_client import generate_latest

        return generate_latest(self._registry)

    def _names(self, record: CallRecord) -> tuple[str, str]:
        """Labels of the tool and the source; names made up by callers become `unknown`."""
        tool = record.tool
        if tool in self._known:
            return tool, record.source
        if record.error_code == _NOT_FOUND or not record.effect:
            return _UNKNOWN, ""
        if len(self._known) >= self._max_tools:
            return _OTHER, ""
        self._known.add(tool)
        return tool, record.source

    def _time(self, tool: str, seconds: float) -> None:
        histogram = self._by_tool.get(tool)
        if histogram is None:
            histogram = self._by_tool[tool] = self._durations.labels(tool)
        histogram.observe(seconds)

    def _count_failure(self, failure: tuple[str, str]) -> None:
        counter = self._by_code.get(failure)
        if counter is None:
            counter = self._by_code[failure] = self._failures.labels(*failure)
        counter.inc()


class RunMetrics:
    """The metrics of runs; all labels exist from the start, at zero."""

    def __init__(self, registry: "CollectorRegistry") -> None:
        """Add the metrics to a registry."""
        import prometheus_client as prometheus

        runs = prometheus.Counter(
            "pegboard_runs", "Runs that have ended, by outcome.", ["outcome"], registry=registry
        )
        steps = prometheus.Counter(
            "pegboard_run_steps",
            "Steps of runs that have ended, items and rounds among them, by outcome.",
            ["outcome"],
            registry=registry,
        )
        decisions = prometheus.Counter(
            "pegboard_approvals",
            "Approvals that were decided, or expired before somebody did.",
            ["decision"],
            registry=registry,
        )
        self._asked = prometheus.Counter(
            "pegboard_approvals_asked", "Approvals that were asked for.", registry=registry
        )
        self._durations = prometheus.Histogram(
            "pegboard_run_duration_seconds",
            "How long runs took that have ended, with all that they have waited.",
            buckets=_RUN_BUCKETS,
            registry=registry,
        )
        self._runs = {name: runs.labels(name) for name in _RUN_OUTCOMES}
        self._steps = {name: steps.labels(name) for name in _STEP_OUTCOMES}
        self._decisions = {name: decisions.labels(name) for name in _DECISIONS}

    def on_event(self, event: Event) -> None:
        """Count a finished step or run, or a change of an approval."""
        match event:
            case StepEnded():
                self._steps[event.state].inc()
            case RunEnded():
                self._runs[event.state].inc()
                self._durations.observe(event.duration_ms / 1000)
            case ApprovalChanged(state="pending"):
                self._asked.inc()
            case ApprovalChanged() if event.state in self._decisions:
                self._decisions[event.state].inc()
            case _:
                return


class ModelMetrics:
    """The metrics of language models, by the provider's name of the model.

    Models beyond `most` count as `other`.
    """

    def __init__(self, registry: "CollectorRegistry", *, most: int = 100) -> None:
        """Add the metrics to a registry."""
        import prometheus_client as prometheus

        self._most = most
        self._known: set[str] = set()
        self._requests = prometheus.Counter(
            "pegboard_model_requests", "Answers of models.", ["model"], registry=registry
        )
        self._tokens = prometheus.Counter(
            "pegboard_model_tokens",
            "Tokens of models: `input` (`cached` ones included) and `output`.",
            ["model", "kind"],
            registry=registry,
        )
        self._cost = prometheus.Counter(
            "pegboard_model_cost_dollars",
            "What models cost, where their price is known.",
            ["model"],
            registry=registry,
        )

    def on_event(self, event: NodeReported) -> None:
        """Count what a node says that a model used."""
        if event.kind != "usage":
            return
        data = event.data
        model = self._name(str(data.get("model") or _UNKNOWN))
        self._requests.labels(model).inc(data.get("requests", 0))
        for kind in _TOKENS:
            self._tokens.labels(model, kind).inc(data.get(f"{kind}_tokens", 0))
        self._cost.labels(model).inc(data.get("cost") or 0)

    def _name(self, model: str) -> str:
        if model not in self._known and len(self._known) >= self._most:
            return _OTHER
        self._known.add(model)
        return model
