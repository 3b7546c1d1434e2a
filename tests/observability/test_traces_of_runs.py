"""Runs as spans, with the calls of their steps below them."""

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from tests.observability.made import NOON, a_finish, a_record, a_rest, a_run

from pegboard.observability import Traces
from pegboard.observability.traces import RunSpans
from pegboard.testing import FakeClock


def runs_of(exporter: InMemorySpanExporter) -> list[ReadableSpan]:
    return [span for span in exporter.get_finished_spans() if span.name == "invoke_workflow"]


def calls_of(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    spans = (span for span in exporter.get_finished_spans() if span.name != "invoke_workflow")
    return {str((span.attributes or {})["gen_ai.tool.call.id"]): span for span in spans}


def parent_of(span: ReadableSpan) -> int | None:
    return None if span.parent is None else span.parent.span_id


def test_a_run_is_a_span_and_the_calls_of_its_steps_are_its_children(
    traces: Traces, exporter: InMemorySpanExporter
) -> None:
    traces.on_event(a_run())
    traces.on_event(a_record("nested", run_id="r1", parent_id="c1"))
    traces.on_event(a_record("c1", run_id="r1"))
    traces.on_event(a_record("c2", run_id="r1"))
    traces.on_event(a_record("elsewhere"))
    traces.on_event(a_finish())
    traces.flush()

    (run,) = runs_of(exporter)
    calls = calls_of(exporter)
    assert run.context is not None
    inside = run.context.span_id
    assert (run.start_time, run.end_time) == (int(NOON * 1e9), int((NOON + 3) * 1e9))
    assert {name: parent_of(calls[name]) for name in ("c1", "c2", "elsewhere")} == {
        "c1": inside,
        "c2": inside,
        "elsewhere": None,
    }
    assert calls["c1"].context is not None
    assert parent_of(calls["nested"]) == calls["c1"].context.span_id
    assert dict(run.attributes or {}) == {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": "shopping",
        "pegboard.run_id": "r1",
        "pegboard.principal": "ada",
        "pegboard.tenant": "acme",
        "pegboard.state": "completed",
        "pegboard.nodes": 2,
    }


def test_the_names_are_those_that_opentelemetry_publishes() -> None:
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

    assert gen_ai_attributes.GEN_AI_WORKFLOW_NAME == "gen_ai.workflow.name"
    assert gen_ai_attributes.GEN_AI_OPERATION_NAME == "gen_ai.operation.name"


def test_calls_of_a_run_that_a_call_has_started_are_the_runs(
    traces: Traces, exporter: InMemorySpanExporter
) -> None:
    traces.on_event(a_run(parent_id="outer"))
    traces.on_event(a_record("c1", run_id="r1", parent_id="outer"))
    traces.on_event(a_finish())
    traces.flush()

    (run,) = runs_of(exporter)
    assert run.context is not None
    assert parent_of(calls_of(exporter)["c1"]) == run.context.span_id


def test_a_run_that_waits_ends_its_span_and_goes_on_in_a_linked_one(
    traces: Traces, exporter: InMemorySpanExporter, clock: FakeClock
) -> None:
    traces.on_event(a_run())
    traces.on_event(a_rest())
    clock.advance(3600)
    traces.on_event(a_run())
    traces.on_event(a_finish(duration_ms=3_601_000.0, state="failed", error_code="timeout"))
    traces.flush()

    first, second = runs_of(exporter)
    assert first.context is not None
    assert second.context is not None
    assert (first.attributes or {})["pegboard.state"] == "waiting"
    assert first.end_time == int((NOON + 1) * 1e9)
    assert second.start_time == int((NOON + 3600) * 1e9)
    assert second.context.trace_id == first.context.trace_id
    assert [link.context.span_id for link in second.links] == [first.context.span_id]
    assert second.status.status_code is StatusCode.ERROR
    assert (second.attributes or {})["error.type"] == "timeout"


def test_a_play_that_tells_no_end_is_interrupted(
    traces: Traces, exporter: InMemorySpanExporter
) -> None:
    traces.on_event(a_finish("unheard of"))
    traces.on_event(a_run())
    traces.on_event(a_run())
    traces.close()

    states = [(span.attributes or {})["pegboard.state"] for span in runs_of(exporter)]
    assert states == ["interrupted", "interrupted"]


def test_a_call_that_ends_late_still_belongs_to_its_run(
    traces: Traces, exporter: InMemorySpanExporter, clock: FakeClock
) -> None:
    traces.on_event(a_run())
    traces.on_event(a_finish())
    traces.on_event(a_record("late", run_id="r1"))
    traces.on_event(a_record("orphan", run_id="r1", parent_id="lost"))
    traces.close()

    (run,) = runs_of(exporter)
    assert run.context is not None
    parents = {parent_of(span) for span in calls_of(exporter).values()}
    assert parents == {run.context.span_id}


def test_secrets_are_taken_out_of_what_a_run_is_called(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    traces = Traces(provider, redact=lambda text: text.replace("hunter2", "***"))
    traces.on_event(a_run(graph="hunter2"))
    traces.close()

    assert (runs_of(exporter)[0].attributes or {})["gen_ai.workflow.name"] == "***"


def test_spans_that_are_open_and_runs_that_are_known_are_bounded(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    spans = RunSpans(provider.get_tracer("t"), lambda value: value, most=2)
    for number in range(4):
        spans.begin(a_run(f"r{number}"), context=None, at=NOON)

    assert len(runs_of(exporter)) == 2
    assert spans.run_context(a_record(run_id="r1")) is None
    assert spans.run_context(a_record(run_id="r3")) is not None
