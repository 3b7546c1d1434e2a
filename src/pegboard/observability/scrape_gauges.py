"""Gauges whose values are read at each Prometheus scrape."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from pegboard.concurrency.process_tree import descendants
from pegboard.core.ports.maintenance import Counts

if TYPE_CHECKING:
    from prometheus_client import Metric

_STATES = ("pending", "ok", "degraded", "failed")
_OPEN = ("pending", "in_progress", "waiting", "paused")

Gauges = Callable[[], Mapping[str, int]]
"""Returns current numbers by name."""

Sources = Callable[[], Mapping[str, tuple[str, int]]]
"""Returns the current state and number of tools of each source."""


class ScrapeGauges:
    """A Prometheus collector; unknown values are left out.

    Args:
        in_flight: Returns the calls in flight by tool.
        dropped: Returns the events lost by each listener.
        sources: Returns the state of each source.
        counts: Returns open runs and approvals; None if the storage cannot be read.
    """

    def __init__(
        self,
        *,
        in_flight: Gauges | None,
        dropped: Gauges | None,
        sources: Sources | None,
        counts: Callable[[], Counts | None],
    ) -> None:
        self._in_flight = in_flight
        self._dropped = dropped
        self._sources = sources
        self._counts = counts

    def collect(self) -> "Iterator[Metric]":
        """Yield the current value of every gauge."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        if self._in_flight is not None:
            running = GaugeMetricFamily(
                "pegboard_calls_in_flight", "Calls that run now, by tool.", labels=["tool"]
            )
            for tool, number in self._in_flight().items():
                running.add_metric([tool], number)
            yield running
        if self._dropped is not None:
            lost = CounterMetricFamily(
                "pegboard_dropped_events",
                "Events that a listener could not keep.",
                labels=["listener"],
            )
            for listener, number in self._dropped().items():
                lost.add_metric([listener], number)
            yield lost
        yield from self._of_sources()
        yield from self._of_storage()
        below = descendants(os.getpid())
        yield GaugeMetricFamily(
            "pegboard_child_processes", "Living processes below this one.", value=len(below)
        )
        yield GaugeMetricFamily(
            "pegboard_child_memory_bytes",
            "Memory that those hold.",
            value=sum(process.resident for process in below),
        )

    def _of_sources(self) -> "Iterator[Metric]":
        from prometheus_client.core import GaugeMetricFamily

        if self._sources is None:
            return
        state = GaugeMetricFamily(
            "pegboard_source_state",
            "1 for the state that a source is in, 0 for the others.",
            labels=["source", "state"],
        )
        tools = GaugeMetricFamily(
            "pegboard_source_tools", "Tools that a source has now.", labels=["source"]
        )
        for source, (now, number) in self._sources().items():
            for name in _STATES:
                state.add_metric([source, name], name == now)
            tools.add_metric([source], number)
        yield state
        yield tools

    def _of_storage(self) -> "Iterator[Metric]":
        from prometheus_client.core import GaugeMetricFamily

        counts = self._counts()
        if counts is None:
            return
        runs = GaugeMetricFamily(
            "pegboard_runs_open",
            "Runs in the storage that have not ended, by state; the same on every server that "
            "shares it.",
            labels=["state"],
        )
        for state in _OPEN:
            runs.add_metric([state], counts.runs.get(state, 0))
        yield runs
        yield GaugeMetricFamily(
            "pegboard_approvals_pending",
            "Approvals in the storage that wait for an answer; the same on every server.",
            value=counts.approvals,
        )
