"""Spans, through OpenTelemetry's own SDK."""

import sys

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from tests.observability.made import NOON, a_record

from pegboard.core.event import SourceChanged
from pegboard.errors import ConfigError
from pegboard.observability import Traces
from pegboard.testing import FakeClock


def spans(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name.removeprefix("execute_tool "): span for span in exporter.get_finished_spans()}


def parent_of(span: ReadableSpan) -> int | None:
    return None if span.parent is None else span.parent.span_id


def id_of(span: ReadableSpan) -> int:
    context = span.get_span_context()
    assert context is not None
    return context.span_id


def trace_of(span: ReadableSpan) -> int:
    context = span.get_span_context()
    assert context is not None
    return context.trace_id


@pytest.mark.parametrize("code", ["tool_not_found", "source_unavailable"])
def test_a_name_that_no_tool_has_is_no_name_of_a_span(
    traces: Traces, exporter: InMemorySpanExporter, code: str
) -> None:
    traces.on_event(a_record(tool="made-up-17", status="invalid", effect="", error_code=code))
    traces.flush()

    (span,) = exporter.get_finished_spans()
    assert span.name == "execute_tool unknown"
    assert (span.attributes or {})["gen_ai.tool.name"] == "made-up-17"


def test_a_call_is_one_span_named_by_the_conventions(
    traces: Traces, exporter: InMemorySpanExporter
) -> None:
    traces.on_event(a_record(version="1.2.0", arguments={"password": "s3cret"}))
    traces.flush()

    (span,) = exporter.get_finished_spans()
    assert span.name == "execute_tool shop__find"
    assert span.kind is SpanKind.INTERNAL
    assert span.start_time == int(NOON * 1e9)
    assert span.end_time == int(NOON * 1e9) + 250_000_000
    assert span.status.status_code is StatusCode.UNSET
    assert span.instrumentation_scope is not None
    assert span.instrumentation_scope.name == "pegboard"
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "shop__find",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.type": "function",
        "pegboard.status": "completed",
        "pegboard.effect": "read",
        "pegboard.version": "1.2.0",
        "pegboard.source": "shop",
        "pegboard.principal": "ada",
        "pegboard.tenant": "acme",
        "pegboard.decision": "allow",
        "pegboard.attempts": 1,
        "pegboard.cached": False,
        "pegboard.replayed": False,
        "pegboard.truncated": False,
        "pegboard.bytes_in": 0,
        "pegboard.bytes_out": 0,
    }


def test_the_names_are_those_that_opentelemetry_publishes() -> None:
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes, mcp_attributes
    from opentelemetry.semconv.attributes import error_attributes

    assert gen_ai_attributes.GEN_AI_OPERATION_NAME == "gen_ai.operation.name"
    assert gen_ai_attributes.GEN_AI_TOOL_NAME == "gen_ai.tool.name"
    assert gen_ai_attributes.GEN_AI_TOOL_CALL_ID == "gen_ai.tool.call.id"
    assert gen_ai_attributes.GEN_AI_TOOL_TYPE == "gen_ai.tool.type"
    assert mcp_attributes.MCP_METHOD_NAME == "mcp.method.name"
    assert error_attributes.ERROR_TYPE == "error.type"


@pytest.mark.parametrize(
    ("status", "code", "error_type"),
    [
        ("failed", "tool_failed", "tool_failed"),
        ("unavailable", "timeout", "timeout"),
        ("invalid", "arguments_invalid", "arguments_invalid"),
        ("denied", "access_denied", "access_denied"),
        ("cancelled", "", "cancelled"),
    ],
)
def test_a_call_that_went_wrong_is_an_error_with_its_safe_message(
    traces: Traces, exporter: InMemorySpanExporter, status: str, code: str, error_type: str
) -> None:
    traces.on_event(
        a_record(
            status=status,
            error_code=code,
            error_message="It did not work.",
            error_id="e1",
            error_detail="Traceback",
        )
    )
    traces.flush()

    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == "It did not work."
    assert (span.attributes or {})["error.type"] == error_type
    assert (span.attributes or {})["pegboard.error_id"] == "e1"
    assert "Traceback" not in span.to_json()


def test_waiting_for_an_approval_is_no_error(
    traces: Traces, exporter: InMemorySpanExporter
) -> None:
    traces.on_event(a_record(status="approval_needed", error_code="approval_required"))
    traces.flush()

    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.UNSET
    assert "error.type" not in (span.attributes or {})


def test_a_call_to_an_mcp_server_says_its_method(
    traces: Traces, exporter: InMemorySpanExporter
) -> None:
    traces.on_event(a_record(handler="mcp"))
    traces.flush()

    (span,) = exporter.get_finished_spans()
    assert (span.attributes or {})["mcp.method.name"] == "tools/call"


def test_a_call_belongs_to_what_is_traced_around_it(
    traces: Traces, provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with provider.get_tracer("door").start_as_current_span("request") as request:
        traces.on_event(a_record())
    traces.on_event(a_record(tool="alone"))
    traces.flush()

    found = spans(exporter)
    assert parent_of(found["shop__find"]) == request.get_span_context().span_id
    assert parent_of(found["alone"]) is None


def test_calls_made_by_a_call_are_children_of_its_span(
    traces: Traces, exporter: InMemorySpanExporter
) -> None:
    traces.on_event(a_record("c3", tool="grandchild", parent_id="c2"))
    traces.on_event(a_record("c2", tool="child", parent_id="c1"))
    traces.on_event(a_record("c4", tool="other child", parent_id="c1"))
    traces.flush()
    before = len(exporter.get_finished_spans())
    traces.on_event(a_record("c1", tool="parent"))
    traces.flush()

    found = spans(exporter)
    assert before == 0
    assert parent_of(found["parent"]) is None
    assert parent_of(found["child"]) == id_of(found["parent"])
    assert parent_of(found["other child"]) == id_of(found["parent"])
    assert parent_of(found["grandchild"]) == id_of(found["child"])
    assert len({trace_of(span) for span in found.values()}) == 1


def test_a_child_does_not_wait_for_ever_but_keeps_its_own_children(
    traces: Traces, exporter: InMemorySpanExporter, clock: FakeClock
) -> None:
    traces.on_event(a_record("c3", tool="grandchild", parent_id="c2"))
    clock.advance(30)
    traces.on_event(a_record("c2", tool="child", parent_id="gone"))
    traces.flush()
    clock.advance(31)
    traces.on_event(a_record("c9", tool="tick"))
    traces.flush()
    early = set(spans(exporter))
    clock.advance(30)
    traces.on_event(a_record("c10", tool="tock"))
    traces.flush()

    found = spans(exporter)
    assert early == {"tick"}
    assert parent_of(found["child"]) is None
    assert parent_of(found["grandchild"]) == id_of(found["child"])


def test_close_emits_what_still_waits(traces: Traces, exporter: InMemorySpanExporter) -> None:
    traces.on_event(a_record("c2", tool="child", parent_id="c1"))
    traces.on_event(a_record("c3", tool="own parent", parent_id="c3"))

    traces.close()

    assert set(spans(exporter)) == {"child", "own parent"}
    assert traces.dropped == 0


def test_secrets_are_taken_out(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    traces = Traces(provider, redact=lambda text: text.replace("s3cret", "***"))
    traces.on_event(
        a_record(tool="s3cret", status="failed", run_id="s3cret", error_message="s3cret")
    )
    traces.close()

    (span,) = exporter.get_finished_spans()
    assert "s3cret" not in span.to_json()
    assert span.status.description == "***"


def test_a_sampler_sees_the_tool_and_may_leave_it_out(exporter: InMemorySpanExporter) -> None:
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    provider = TracerProvider(sampler=ALWAYS_OFF)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    traces = Traces(provider)
    traces.on_event(a_record(status="failed", error_message="no"))
    traces.close()
    provider.shutdown()

    assert exporter.get_finished_spans() == ()
    assert traces.dropped == 0


def test_without_a_provider_nothing_is_emitted_and_nothing_breaks() -> None:
    traces = Traces()
    traces.on_event(a_record())
    traces.close()

    assert traces.dropped == 0


def test_other_events_are_no_spans(traces: Traces, exporter: InMemorySpanExporter) -> None:
    traces.on_event(SourceChanged(source="shop", status="ready"))
    traces.flush()

    assert exporter.get_finished_spans() == ()


def test_a_missing_extra_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)

    with pytest.raises(ConfigError, match=r"pip install 'pegboard\[otel\]'"):
        Traces()
