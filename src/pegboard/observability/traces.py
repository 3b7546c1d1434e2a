"""OpenTelemetry spans of finished calls, and of runs.

Names follow the semantic conventions for GenAI tool execution and MCP (development status):
https://github.com/open-telemetry/semantic-conventions-genai/tree/main/docs/gen-ai
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from pegboard.concurrency.background_queue import BackgroundQueue
from pegboard.core.event import CallRecord, Event, RunFinished, RunRested, RunStarted
from pegboard.core.ports.clock import Clock, SystemClock
from pegboard.errors import ConfigError

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer, TracerProvider

_SYSTEM_CLOCK = SystemClock()
_MAX_HELD = 10_000
_NO_ERROR = frozenset({"completed", "approval_needed"})
_UNKNOWN = "unknown"


class _CallEnd(Struct, frozen=True):
    """A finished call, the trace context where it ended, and when it was queued."""

    record: CallRecord
    context: Any
    since: float


class _RunEvent(Struct, frozen=True):
    """The start or end of an attempt of a run, its trace context, and when it was emitted."""

    event: RunStarted | RunRested | RunFinished
    context: Any
    at: float


class Traces:
    """Emits an `execute_tool` span for each call, and an `invoke_workflow` span for each attempt.

    ```python
    traces = Traces()  # through the tracer provider that the application has set
    registry = ToolRegistry([letter_counter], listeners=[traces])
    ```

    A span belongs to the trace that is current where the call ends, or the run is started. A call
    that another call made ends first, so it waits for its parent's record, at most `max_wait`
    seconds, and becomes a child of its parent's span. Calls of a run's steps are its children.
    """

    def __init__(
        self,
        provider: "TracerProvider | None" = None,
        *,
        redact: Callable[[str], str] | None = None,
        max_waiting: int = 10_000,
        max_wait: float = 60.0,
        clock: Clock = _SYSTEM_CLOCK,
        shut_down: Callable[[], None] = lambda: None,
    ) -> None:
        """Emit through `provider`, or through the provider that the application has set.

        Args:
            provider: The provider; None for that of the application.
            redact: Removes secrets from each text.
            max_waiting: Maximum number of queued spans; further ones are dropped.
            max_wait: Seconds that a span waits for that of its parent.
            clock: The clock.
            shut_down: Called at the end of `close`, for a provider that nothing else uses.

        Raises:
            ConfigError: OpenTelemetry is not installed.
        """
        try:
            from opentelemetry import context, trace
        except ImportError as error:
            raise ConfigError("Traces need OpenTelemetry: pip install 'pegboard[otel]'") from error
        self._current: Callable[[], Context] = context.get_current
        self._tracer: Tracer = trace.get_tracer("pegboard", tracer_provider=provider)
        self._redact = redact
        self._runs = RunSpans(self._tracer, self._clean)
        self._clock = clock
        self._shut_down = shut_down
        self._max_wait = max_wait
        self._held: dict[str, list[_CallEnd]] = {}
        self._number_held = 0
        self._outbox: BackgroundQueue[_CallEnd | _RunEvent] = BackgroundQueue(
            self._take, name="traces", max_waiting=max_waiting, idle=max_wait
        )

    @property
    def dropped(self) -> int:
        """Number of spans lost."""
        return self._outbox.dropped

    def on_event(self, event: Event) -> None:
        """Queue the span of a call or of a run."""
        if isinstance(event, CallRecord):
            self._outbox.post(_CallEnd(event, self._current(), self._clock.monotonic()))
        elif isinstance(event, (RunStarted, RunRested, RunFinished)):
            self._outbox.post(_RunEvent(event, self._current(), self._clock.time()))

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until all spans so far are emitted or wait for a parent; False on timeout."""
        return self._outbox.flush(timeout)

    def close(self, timeout: float = 5.0) -> None:
        """Emit what is queued or waits for a parent, for at most `timeout` seconds."""
        self._outbox.close(timeout)
        self._release(before=float("inf"))
        for parent_id in list(self._held):
            self._emit_held(parent_id)
        self._runs.close(self._clock.time())
        self._shut_down()

    def _take(self, batch: list[_CallEnd | _RunEvent]) -> None:
        for item in batch:
            if isinstance(item, _CallEnd):
                self._take_call(item)
            elif isinstance(item.event, RunStarted):
                self._runs.begin(item.event, context=item.context, at=item.at)
            else:
                self._runs.end(item.event)
        self._release(before=self._clock.monotonic() - self._max_wait)

    def _take_call(self, ended: _CallEnd) -> None:
        record = ended.record
        within = self._runs.step_context(record)
        if within is None and record.parent_id and self._number_held < _MAX_HELD:
            self._held.setdefault(record.parent_id, []).append(ended)
            self._number_held += 1
        else:
            self._emit(ended, within or ended.context)

    def _release(self, before: float) -> None:
        """Emit spans that have waited long enough, unless their parent waits too."""
        due = [key for key, held in self._held.items() if held[0].since <= before]
        if not due:
            return
        here = {ended.record.call_id for held in self._held.values() for ended in held}
        for parent_id in due:
            if parent_id not in here:
                self._emit_held(parent_id)

    def _emit_held(self, parent_id: str) -> None:
        for ended in self._pop_held(parent_id):
            self._emit(ended, self._runs.run_context(ended.record) or ended.context)

    def _pop_held(self, parent_id: str) -> list[_CallEnd]:
        held = self._held.pop(parent_id, [])
        self._number_held -= len(held)
        return held

    def _emit(self, ended: _CallEnd, context: "Context | None") -> None:
        from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

        record = ended.record
        # Converted separately: a float cannot hold Unix nanoseconds exactly.
        start, took = int(record.started_at * 1e9), int(record.duration_ms * 1e6)
        span = self._tracer.start_span(
            f"execute_tool {self._clean(_name(record))}",
            context=context,
            kind=SpanKind.INTERNAL,
            attributes={key: self._clean(value) for key, value in _attributes(record).items()},
            start_time=start,
        )
        if record.status not in _NO_ERROR:
            message = self._clean(record.error_message)
            span.set_status(Status(StatusCode.ERROR, message or record.status))
        for child in self._pop_held(record.call_id):
            self._emit(child, set_span_in_context(span, context))
        span.end(start + took)

    def _clean(self, value: Any) -> Any:
        if self._redact is None or not isinstance(value, str):
            return value
        return self._redact(value)


class RunSpans:
    """One span for each attempt of a run, and the trace contexts of earlier attempts.

    A run that waits for days has no span that is open for days: each attempt has a span of its
    own, in the same trace as long as this process knows it, and linked to the first.

    Args:
        tracer: Starts the spans.
        clean: Removes secrets from texts.
        most: Maximum number of open spans, and of known runs; the oldest are ended and forgotten.
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
        """Start the span of an attempt."""
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
            attributes={key: self._clean(value) for key, value in _run_attributes(event).items()},
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
        """End the span of an attempt: the run is suspended or has ended."""
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
        # Converted separately: a float cannot hold Unix nanoseconds exactly.
        span.end(int(event.started_at * 1e9) + int(event.duration_ms * 1e6))

    def step_context(self, record: CallRecord) -> "Context | None":
        """Return the context for a call made by a step; None for a call made by another call."""
        known = self._contexts.get(record.run_id)
        return known[1] if known is not None and known[0] == record.parent_id else None

    def run_context(self, record: CallRecord) -> "Context | None":
        """Return the context of the run in which a call was made; None if unknown."""
        known = self._contexts.get(record.run_id)
        return None if known is None else known[1]

    def close(self, at: float) -> None:
        """End all open spans: their runs continue elsewhere, or never."""
        for run_id in list(self._open):
            self._cut_off(run_id, at)

    def _cut_off(self, run_id: str, at: float) -> None:
        """End the span of an attempt whose end was not emitted."""
        span = self._open.pop(run_id, None)
        if span is not None:
            span.set_attribute("pegboard.state", "interrupted")
            span.end(int(at * 1e9))


def _name(record: CallRecord) -> str:
    """The name of the tool; `unknown` for a name made up by the caller."""
    return record.tool if record.effect else _UNKNOWN


def _attributes(record: CallRecord) -> dict[str, Any]:
    """Attributes of the semantic conventions, and the rest under `pegboard.`."""
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": record.tool,
        "gen_ai.tool.call.id": record.call_id,
        "gen_ai.tool.type": "function",
        "pegboard.status": record.status,
        "pegboard.effect": record.effect,
        "pegboard.version": record.version,
        "pegboard.source": record.source,
        "pegboard.principal": record.principal.id,
        "pegboard.tenant": record.principal.tenant,
        "pegboard.decision": record.decision,
        "pegboard.attempts": record.attempts,
        "pegboard.cached": record.cached,
        "pegboard.replayed": record.replayed,
        "pegboard.truncated": record.truncated,
        "pegboard.bytes_in": record.bytes_in,
        "pegboard.bytes_out": record.bytes_out,
        "pegboard.run_id": record.run_id,
        "pegboard.parent_id": record.parent_id,
        "pegboard.instead_of": record.instead_of,
        "pegboard.error_id": record.error_id,
        "pegboard.toolkit": record.toolkit,
        "gen_ai.response.model": record.model,
    }
    if record.tokens is not None:
        attributes["pegboard.tokens"] = record.tokens
    if record.handler == "mcp":
        attributes["mcp.method.name"] = "tools/call"
    if record.status not in _NO_ERROR:
        attributes["error.type"] = record.error_code or record.status
    return {key: value for key, value in attributes.items() if value != ""}


def _run_attributes(event: RunStarted) -> dict[str, Any]:
    attributes = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": event.graph,
        "pegboard.run_id": event.run_id,
        "pegboard.principal": event.principal,
        "pegboard.tenant": event.tenant,
        "pegboard.parent_id": event.parent_id,
    }
    return {key: value for key, value in attributes.items() if value != ""}
