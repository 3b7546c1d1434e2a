"""JSON lines: whole, safe, and never in a call's way."""

import io
import json
import os
import threading
import time
from pathlib import Path
from traceback import format_exception
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.observability.made import NOON, a_record, a_rest, a_run, a_step, an_end

from pegboard.core.event import CallStarted, Notice, SourceChanged, digest_of
from pegboard.errors import ConfigError
from pegboard.execution.errors_for_readers import translate_error
from pegboard.observability import JsonLog
from pegboard.testing import FakeClock


def logged(*events: Any, **options: Any) -> list[dict[str, Any]]:
    """The lines that these events make."""
    stream = io.StringIO()
    log = JsonLog(stream, **options)
    for event in events:
        log.on_event(event)
    log.close(60)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_call_is_one_line_with_the_keys_of_its_record() -> None:
    assert logged(a_record(arguments={"q": "pear"}, run_id="r1")) == [
        {
            "time": "2026-01-01T12:00:00.250+00:00",
            "level": "info",
            "event": "call",
            "call_id": "c1",
            "tool": "shop__find",
            "status": "completed",
            "started_at": NOON,
            "duration_ms": 250.0,
            "source": "shop",
            "untrusted": False,
            "effect": "read",
            "decision": "allow",
            "attempts": 1,
            "cached": False,
            "replayed": False,
            "truncated": False,
            "bytes_in": 0,
            "bytes_out": 0,
            "run_id": "r1",
            "principal": "ada",
            "tenant": "acme",
            "arguments_digest": digest_of({"q": "pear"}),
        }
    ]


@pytest.mark.parametrize(
    ("status", "level"),
    [
        ("completed", "info"),
        ("approval_needed", "info"),
        ("invalid", "warning"),
        ("denied", "warning"),
        ("cancelled", "warning"),
        ("failed", "error"),
        ("unavailable", "error"),
    ],
)
def test_the_level_says_how_bad_it_is(status: str, level: str) -> None:
    assert logged(a_record(status=status))[0]["level"] == level


def test_a_change_of_a_source_is_one_line(clock: FakeClock) -> None:
    changes = [
        SourceChanged(source="shop", status="ready", tools=3),
        SourceChanged(source="bank", status="failed", reason="no route to host"),
    ]

    assert logged(*changes, clock=clock) == [
        {
            "time": "2026-01-01T12:00:00.000+00:00",
            "level": "info",
            "event": "source",
            "source": "shop",
            "status": "ready",
            "tools": 3,
        },
        {
            "time": "2026-01-01T12:00:00.000+00:00",
            "level": "warning",
            "event": "source",
            "source": "bank",
            "status": "failed",
            "tools": 0,
            "reason": "no route to host",
        },
    ]


def test_the_line_of_a_source_whose_code_fails_says_where_in_it() -> None:
    stack = "Traceback (most recent call last):\n  File \"bank.py\"\nKeyError: 's3cret'"
    failed = SourceChanged(source="bank", status="failed", reason="the log says why", stack=stack)

    [line] = logged(failed, redact=lambda text: text.replace("s3cret", "***"))

    assert line["stack"] == stack.replace("s3cret", "***")


def test_a_step_and_what_becomes_of_a_run_are_lines(clock: FakeClock) -> None:
    run = {"event": "run", "run_id": "r1", "graph": "shopping"}
    begun, waits, step, ended = logged(
        a_run(),
        a_rest(),
        a_step(state="failed", error_code="timeout"),
        an_end(state="failed", error_code="timeout"),
        clock=clock,
    )

    assert begun == run | {
        "time": "2026-01-01T12:00:00.000+00:00",
        "level": "info",
        "state": "in_progress",
        "principal": "ada",
        "tenant": "acme",
        "started_at": NOON,
    }
    assert waits == run | {
        "time": "2026-01-01T12:00:01.000+00:00",
        "level": "info",
        "state": "waiting",
    }
    assert step == {
        "time": "2026-01-01T12:00:02.000+00:00",
        "level": "error",
        "event": "step",
        "run_id": "r1",
        "step": "find",
        "state": "failed",
        "tool": "shop__find",
        "attempts": 1,
        "duration_ms": 12.5,
        "error_code": "timeout",
    }
    assert ended == run | {
        "time": "2026-01-01T12:00:03.000+00:00",
        "level": "error",
        "state": "failed",
        "duration_ms": 3000.0,
        "steps": 2,
        "error_code": "timeout",
    }


def test_a_notice_is_one_line_with_its_detail() -> None:
    notice = Notice(
        about="board",
        level="info",
        message="board.yaml reloaded",
        at=NOON,
        detail={"added": ["shop"], "removed": []},
    )

    (line,) = logged(notice)

    assert line == {
        "time": "2026-01-01T12:00:00.000+00:00",
        "level": "info",
        "event": "board",
        "message": "board.yaml reloaded",
        "added": ["shop"],
    }


def test_starts_are_no_lines() -> None:
    start = CallStarted(
        call_id="c1",
        tool="t",
        version="1",
        source="s",
        principal="p",
        tenant="",
        effect="write",
        arguments_digest="d",
        started_at=NOON,
    )

    assert logged(start) == []


def test_the_operators_detail_is_not_in_the_log() -> None:
    lines = logged(a_record(status="failed", error_id="e1", error_detail="Traceback"))

    assert lines[0]["error_id"] == "e1"
    assert "Traceback" not in repr(lines)


def test_arguments_are_in_the_log_only_if_the_operator_says_so() -> None:
    arguments = {"q": "pear"}

    assert "arguments" not in logged(a_record(arguments=arguments))[0]
    line = logged(a_record(arguments=arguments), include_arguments=True)[0]
    assert line["arguments"] == '{"q": "pear"}'


def test_secrets_are_taken_out_of_every_text() -> None:
    def redact(text: str) -> str:
        return text.replace('s3"cret', "***")

    lines = logged(
        a_record(reason='s3"cret', error_message='s3"cret', run_id='s3"cret', arguments='s3"cret'),
        SourceChanged(source="bank", status="failed", reason='s3"cret'),
        redact=redact,
        include_arguments=True,
    )

    assert "cret" not in repr(lines)
    assert lines[0]["reason"] == "***"
    assert lines[0]["duration_ms"] == 250.0


@given(st.text(st.characters(), max_size=50))
def test_no_value_can_forge_a_line_or_reach_the_terminal(text: str) -> None:
    stream = io.StringIO()
    log = JsonLog(stream, include_arguments=True)
    log.on_event(a_record(tool=text, reason=text, arguments=text))
    log.on_event(SourceChanged(source=text, status="failed", reason=text))
    log.flush(60)
    log.close(60)

    written = stream.getvalue()
    lines = written.split("\n")
    assert [json.loads(line)["event"] for line in lines[:-1]] == ["call", "source"]
    assert lines[-1] == ""
    assert all(" " <= character <= "~" for character in written if character != "\n")


def test_lines_are_appended_to_a_file(tmp_path: Path) -> None:
    for call_id in ("c1", "c2"):
        log = JsonLog(tmp_path / "calls.jsonl")
        log.on_event(a_record(call_id))
        log.close(60)

    lines = (tmp_path / "calls.jsonl").read_text().splitlines()
    assert [json.loads(line)["call_id"] for line in lines] == ["c1", "c2"]


def test_a_file_that_cannot_be_written_is_told_at_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be written"):
        JsonLog(str(tmp_path))


def test_a_full_pipe_drops_counts_and_says_so(clock: FakeClock) -> None:
    reading, writing = os.pipe()
    stream = os.fdopen(writing, "w")
    log = JsonLog(stream, max_waiting=300, clock=clock)

    before = time.thread_time()
    for number in range(20_000):
        log.on_event(a_record(f"c{number}"))
    took = time.thread_time() - before
    log.flush(0.2)
    stuck = not log.flush(0.2)
    read: list[str] = []
    with os.fdopen(reading) as pipe:
        reader = threading.Thread(target=lambda: read.extend(pipe))
        reader.start()
        log.close(60)
        stream.close()
        reader.join()

    events = [json.loads(line) for line in read]
    said = [event for event in events if event["event"] == "dropped"]
    assert stuck
    assert took < 5.0
    assert sum(event["count"] for event in said) == said[-1]["total"] == log.dropped
    assert len(events) - len(said) + log.dropped == 20_000


def test_a_reader_that_is_gone_costs_lines_and_not_calls() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    stream = os.fdopen(writing, "w", buffering=1)
    log = JsonLog(stream)

    log.on_event(a_record("c1"))
    log.flush(60)
    log.on_event(a_record("c2"))
    log.close(60)
    with pytest.raises(BrokenPipeError):
        stream.close()

    assert log.dropped == 2


def test_lines_lost_to_a_full_disk_are_said_once_there_is_room(
    tmp_path: Path, clock: FakeClock
) -> None:
    path = tmp_path / "calls.jsonl"
    path.symlink_to("/dev/full")
    log = JsonLog(path, clock=clock)
    log.on_event(a_record("c1"))
    log.flush(60)
    path.unlink()
    log.on_event(a_record("c2"))
    log.close(60)

    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.get("call_id", line["event"]) for line in lines] == ["c2", "dropped"]
    assert lines[1]["total"] == 1


def test_the_line_of_a_call_that_an_exception_ended_has_its_stack() -> None:
    detail = "".join(format_exception(translate_error("pay", KeyError("x"))))

    [line, other] = logged(
        a_record(status="failed", error_detail=detail),
        a_record(status="failed", error_detail="pegboard.errors.ToolFailed: No.\n"),
    )

    assert line["stack"] == "KeyError: 'x'"
    assert "stack" not in other
