"""Counts runs, their steps, and what people decide."""

from typing import TYPE_CHECKING

from pegboard.core.event import ApprovalChanged, Event, RunEnded, StepEnded

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_BUCKETS = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400)
_RUN_OUTCOMES = ("completed", "failed", "cancelled")
_STEP_OUTCOMES = (*_RUN_OUTCOMES, "skipped")
_DECISIONS = ("approved", "denied", "edited", "expired")


class RunMetrics:
    """The part of `Metrics` that is about runs. All labels are there from the start, at zero."""

    def __init__(self, registry: "CollectorRegistry") -> None:
        """Count in this registry."""
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
            buckets=_BUCKETS,
            registry=registry,
        )
        self._runs = {name: runs.labels(name) for name in _RUN_OUTCOMES}
        self._steps = {name: steps.labels(name) for name in _STEP_OUTCOMES}
        self._decisions = {name: decisions.labels(name) for name in _DECISIONS}

    def on_event(self, event: Event) -> None:
        """Count the end of a step or a run, and what became of an approval."""
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
