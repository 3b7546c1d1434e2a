"""Numbers that Prometheus can read."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.observability.made import a_record

from pegboard.core.event import SourceChanged
from pegboard.errors import ConfigError
from pegboard.observability import Metrics

ROOT = Path(__file__).parents[2]

Labels = frozenset[tuple[str, str]]


def scraped(metrics: Metrics) -> dict[tuple[str, Labels], float]:
    """What a scrape says, read by Prometheus' own parser."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(metrics.render().decode())
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return scraped(metrics).get((name, frozenset(labels.items())))


def labels_of(metrics: Metrics, name: str, label: str) -> set[str]:
    return {dict(labels)[label] for key, labels in scraped(metrics) if key == name}


def test_calls_are_counted_by_tool_source_and_status() -> None:
    metrics = Metrics()
    for status in ("completed", "completed", "denied"):
        metrics.on_event(a_record(status=status))
    metrics.on_event(a_record(tool="bank__pay", source="bank"))

    def calls(tool: str, source: str, status: str) -> float | None:
        return value(metrics, "pegboard_calls_total", tool=tool, source=source, status=status)

    assert calls("shop__find", "shop", "completed") == 2
    assert calls("shop__find", "shop", "denied") == 1
    assert calls("bank__pay", "bank", "completed") == 1


def test_failures_are_counted_by_code() -> None:
    metrics = Metrics()
    for code in ("timeout", "timeout", "tool_failed"):
        metrics.on_event(a_record(status="failed", error_code=code))
    metrics.on_event(a_record())

    failures = {
        code: value(metrics, "pegboard_call_failures_total", tool="shop__find", code=code)
        for code in labels_of(metrics, "pegboard_call_failures_total", "code")
    }
    assert failures == {"timeout": 2, "tool_failed": 1}


def test_durations_are_seconds_in_buckets() -> None:
    metrics = Metrics()
    for milliseconds in (2.0, 40.0, 250.0):
        metrics.on_event(a_record(duration_ms=milliseconds))

    name = "pegboard_call_duration_seconds"
    assert value(metrics, f"{name}_count", tool="shop__find") == 3
    assert value(metrics, f"{name}_sum", tool="shop__find") == pytest.approx(0.292)
    assert value(metrics, f"{name}_bucket", tool="shop__find", le="0.05") == 2
    assert value(metrics, f"{name}_bucket", tool="shop__find", le="+Inf") == 3


@pytest.mark.parametrize("status", ["invalid", "denied", "approval_needed"])
def test_a_refusal_says_nothing_about_how_long_a_tool_takes(status: str) -> None:
    metrics = Metrics()

    metrics.on_event(a_record(status=status))

    assert value(metrics, "pegboard_call_duration_seconds_count", tool="shop__find") is None


@pytest.mark.parametrize("code", ["tool_not_found", "source_unavailable"])
def test_names_that_callers_make_up_share_one_label(code: str) -> None:
    metrics = Metrics()
    for number in range(1_000):
        metrics.on_event(
            a_record(tool=f"made_up_{number}", source="", effect="", status="x", error_code=code)
        )

    assert labels_of(metrics, "pegboard_calls_total", "tool") == {"unknown"}
    assert labels_of(metrics, "pegboard_call_failures_total", "tool") == {"unknown"}


def test_tools_beyond_the_bound_share_one_label() -> None:
    metrics = Metrics(max_tools=2)
    for tool in ("a", "b", "c", "d", "a"):
        metrics.on_event(a_record(tool=tool))

    assert labels_of(metrics, "pegboard_calls_total", "tool") == {"a", "b", "other"}


def test_the_metrics_of_tools_that_are_gone_are_dropped() -> None:
    metrics = Metrics(max_tools=2)
    for tool in ("stays", "gone"):
        metrics.on_event(a_record(tool=tool, error_code="timeout"))
    metrics.on_event(a_record(tool="stays"))

    metrics.retain(lambda tool: tool == "stays")
    metrics.on_event(a_record(tool="new"))

    assert labels_of(metrics, "pegboard_calls_total", "tool") == {"stays", "new"}
    assert labels_of(metrics, "pegboard_call_failures_total", "tool") == {"stays"}
    assert labels_of(metrics, "pegboard_call_duration_seconds_count", "tool") == {"stays", "new"}
    assert value(
        metrics, "pegboard_calls_total", tool="stays", source="shop", status="completed"
    ) == 2  # fmt: skip


def test_a_registered_name_that_looks_odd_is_still_one_label() -> None:
    metrics = Metrics()
    tool = 'a"b\\c\nd{}\u2028'

    metrics.on_event(a_record(tool=tool, source="", error_code="timeout"))

    assert value(
        metrics, "pegboard_calls_total", tool=tool, source="", status="completed"
    ) == 1  # fmt: skip


def test_running_calls_and_lost_events_are_looked_up_at_each_scrape() -> None:
    running = {"shop__find": 1}
    lost = {"log": 0}
    metrics = Metrics(in_flight=lambda: running, dropped=lambda: lost)
    first = scraped(metrics)
    running["shop__find"], lost["log"] = 3, 7
    second = scraped(metrics)

    in_flight = ("pegboard_calls_in_flight", frozenset({("tool", "shop__find")}))
    dropped = ("pegboard_dropped_events_total", frozenset({("listener", "log")}))
    assert (first[in_flight], first[dropped]) == (1, 0)
    assert (second[in_flight], second[dropped]) == (3, 7)


def test_what_nobody_can_tell_is_left_out() -> None:
    names = {name for name, _ in scraped(Metrics())}

    assert "pegboard_calls_in_flight" not in names
    assert "pegboard_dropped_events_total" not in names


def test_the_process_and_its_children_are_there() -> None:
    metrics = Metrics()
    with subprocess.Popen(
        [sys.executable, "-c", "print(flush=True), input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"\n"  # a process that has just begun holds nothing
        during = scraped(metrics)
    none = frozenset[tuple[str, str]]()

    assert during["process_cpu_seconds_total", none] > 0
    assert during["process_resident_memory_bytes", none] > 10_000_000
    assert during["pegboard_child_processes", none] >= 1
    assert during["pegboard_child_memory_bytes", none] > 1_000_000


def test_two_instances_count_apart() -> None:
    first, second = Metrics(), Metrics()

    first.on_event(a_record())

    assert labels_of(second, "pegboard_calls_total", "tool") == set()


def test_other_events_are_not_counted() -> None:
    metrics = Metrics()

    metrics.on_event(SourceChanged(source="shop", status="ready"))

    assert labels_of(metrics, "pegboard_calls_total", "tool") == set()


def test_eight_threads_lose_no_call() -> None:
    metrics = Metrics()

    def work(tool: str) -> None:
        for _ in range(500):
            metrics.on_event(a_record(tool=tool, error_code="timeout"))
            metrics.on_event(a_record(tool="shared"))

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    found = {"source": "shop", "status": "completed"}
    assert value(metrics, "pegboard_calls_total", tool="shared", **found) == 4_000
    assert value(metrics, "pegboard_calls_total", tool="a", **found) == 500
    assert value(metrics, "pegboard_call_duration_seconds_count", tool="shared") == 4_000


def test_the_content_type_is_prometheus_own() -> None:
    from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

    assert Metrics.content_type == CONTENT_TYPE_PLAIN_0_0_4


def test_a_missing_extra_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)

    with pytest.raises(ConfigError, match=r"pip install 'pegboard\[server\]'"):
        Metrics()


@pytest.mark.slow
def test_importing_the_room_loads_neither_prometheus_nor_opentelemetry() -> None:
    program = (
        "import sys, pegboard.observability; "
        "print([m for m in sys.modules if m.split('.')[0] in "
        "{'prometheus_client', 'opentelemetry'}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True, cwd=ROOT
    )

    assert done.stdout == "[]\n"
