"""The spans of runs: one for each time that a run is played, from its start until it rests or ends.

A run that waits for days has no span that is open for days: when it goes on it gets another one, in
the same trace where this process still knows it, and linked to the first.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pegboard.core.event import CallRecord, RunFinished, RunRested, RunStarted

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer


class RunSpans:
    """Spans that are open while runs are played, and what is known of those before.

    Args:
        tracer: Starts them.
        clean: Takes secrets out of texts.
        most: Runs that are open, and runs that are known: the oldest are cut off, and forgotten.
    """

    def __init__(
        self, tracer: "Tracer", clean: Callable[[Any], Any], *, most: int = 10_000
    ) -> None:
        self._tracer = tracer
        self._clean = clean
        self._most = most
        self._open: dict[str, Span] = {}
        self._contexts: dict[str, tuple[str, Context]] = {}

    def begin(self, event: RunStarted, *, context: "Context | None", at: float) -> None:
        """A run is being played."""
        from opentelemetry.trace import Link, SpanKind, get_current_span, set_span_in_context

        self._cut_off(event.run_id, at)
        links: list[Link] = []
        if (known := self._contexts.pop(event.run_id, None)) is not None:
            context = known[1]
            links = [Link(get_current_span(context).get_span_context())]
        span = self._tracer.start_span(
            "invoke_workflow",
            context=context,
            kind=SpanKind.INTERNAL,
            attributes={key: self._clean(value) for key, value in _attributes(event).items()},
            links=links,
            start_time=int(at * 1e9),
        )
        self._open[event.run_id] = span
        self._contexts[event.run_id] = (event.parent_id, set_span_in_context(span, context))
        if len(self._open) > self._most:
            self._cut_off(next(iter(self._open)), at)
        if len(self._contexts) > self._most:
            del self._contexts[next(iter(self._contexts))]

    def end(self, event: RunRested | RunFinished) -> None:
        """It rests, or has ended."""
        span = self._open.pop(event.run_id, None)
        if span is None:
            return
        span.set_attribute("pegboard.state", event.state)
        if isinstance(event, RunRested):
            span.end(int(event.at * 1e9))
            return
        if event.state == "failed":
            from opentelemetry.trace import Status, StatusCode

            code = event.error_code or event.state
            span.set_attribute("error.type", code)
            span.set_status(Status(StatusCode.ERROR, code))
        span.set_attribute("pegboard.nodes", event.nodes)
        # Each by itself: Unix nanoseconds are beyond what a float holds exactly.
        span.end(int(event.started_at * 1e9) + int(event.duration_ms * 1e6))

    def context_of(self, record: CallRecord) -> "Context | None":
        """What a call that a step makes belongs to; None for one that another call makes."""
        known = self._contexts.get(record.run_id)
        return known[1] if known is not None and known[0] == record.parent_id else None

    def around(self, record: CallRecord) -> "Context | None":
        """The run in which a call was made, by whatever; None for none that is known."""
        known = self._contexts.get(record.run_id)
        return None if known is None else known[1]

    def close(self, at: float) -> None:
        """End what is open: it goes on in another process, or never."""
        for run_id in list(self._open):
            self._cut_off(run_id, at)

    def _cut_off(self, run_id: str, at: float) -> None:
        """A play that told no end: its process could not record the run any more."""
        span = self._open.pop(run_id, None)
        if span is not None:
            span.set_attribute("pegboard.state", "interrupted")
            span.end(int(at * 1e9))


def _attributes(event: RunStarted) -> dict[str, Any]:
    attributes = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": event.graph,
        "pegboard.run_id": event.run_id,
        "pegboard.principal": event.principal,
        "pegboard.tenant": event.tenant,
        "pegboard.parent_id": event.parent_id,
    }
    return {key: value for key, value in attributes.items() if value != ""}
