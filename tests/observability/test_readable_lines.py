from io import StringIO
from typing import Any

import pytest
from tests.observability.made import NOON, a_record, a_step, an_end

from pegboard.core.event import Event, Notice, SourceChanged
from pegboard.observability import JsonLog, ReadableLines
from pegboard.testing import FakeClock

SOURCES = [
    {"name": "shop", "kind": "openapi", "status": "ok", "tools": 2, "reason": ""},
    {"name": "files", "kind": "mcp", "status": "failed", "tools": 0, "reason": "no such program"},
]
RULE = {"rule": "deny", "glob": "shp__*", "where": "board.yaml:4", "reason": "it matches no tool"}


def started(**changes: Any) -> Notice:
    detail: dict[str, Any] = {
        "board": "board.yaml",
        "data": ".pegboard",
        "console": "http://127.0.0.1:8321/ui/",
        "tools": 3,
        "sources": SOURCES,
        "rules": [RULE],
    }
    return Notice(about="server", level="info", message="listens", at=NOON, detail=detail | changes)


def lines(*events: Event) -> list[str]:
    """What a terminal shows, without the time of each line."""
    stream = StringIO()
    log = JsonLog(stream, line_format=ReadableLines(), clock=FakeClock(start=NOON))
    for event in events:
        log.on_event(event)
    log.close()
    shown = stream.getvalue().splitlines()
    return [line[10:] if line[2:3] == ":" else line for line in shown]


def test_a_server_begins_with_a_summary_of_its_board() -> None:
    assert lines(started()) == [
        "  board     board.yaml",
        "  data      .pegboard",
        "  console   http://127.0.0.1:8321/ui/",
        "  tools     3",
        "  sources   shop   2 tools",
        "            files  failed    no such program",
        "  warnings  deny rule 'shp__*' (board.yaml:4): it matches no tool",
        "",
    ]


def test_a_call_is_one_aligned_line() -> None:
    assert lines(
        a_record(), a_record(tool="shop__pay", status="approval_needed", duration_ms=0.2)
    ) == [
        "call    shop__find                    completed          250 ms  ada",
        "call    shop__pay                     approval_needed    < 1 ms  ada",
    ]


def test_a_failed_call_says_why_and_where_to_look() -> None:
    (line,) = lines(a_record(status="failed", error_message="It broke.", error_id="e_1"))

    assert line.endswith("failed             250 ms  ada  It broke.  (error id e_1)")


def test_a_call_that_an_exception_ended_says_which_one_and_where() -> None:
    detail = """Traceback (most recent call last):
  File "/srv/board/shop.py", line 3, in pay
    return prices[name]
KeyError: 'pear'

The above exception was the direct cause of the following exception:

pegboard.errors.ToolFailed: 'pay' failed.
"""

    (line,) = lines(a_record(status="failed", error_message="'pay' failed.", error_detail=detail))

    assert line.endswith("'pay' failed.  (KeyError: 'pear' in shop.py:3)")


def test_steps_and_runs_are_lines() -> None:
    assert lines(a_step(), an_end()) == [
        "step    find                          completed           12 ms  shop__find",
        "run     r1                            completed         3000 ms  shopping",
    ]


def test_a_source_has_a_line_when_its_state_changes_and_not_at_each_retry() -> None:
    failing = SourceChanged(source="files", status="failed", reason="no such program")
    well = SourceChanged(source="files", status="ok", tools=1)

    assert lines(failing, started(rules=[]), failing, well, well)[7:] == [
        "source  files                         ok               1 tool",
    ]


def test_a_source_whose_code_fails_says_where() -> None:
    stack = """Traceback (most recent call last):
  File "/srv/board/shop.py", line 3, in <module>
    x
NameError: name 'x' is not defined
"""
    broken = SourceChanged(
        source="files", status="degraded", tools=2, reason="it failed", stack=stack
    )

    shown = lines(broken, started(rules=[]), broken)

    assert shown[5].endswith(
        "files  failed    no such program  (NameError: name 'x' is not defined in shop.py:3)"
    )
    assert shown[7].endswith("it failed  (NameError: name 'x' is not defined in shop.py:3)")


def test_a_refused_reload_is_an_error_on_one_line() -> None:
    notice = Notice(about="board", level="error", message="refused: a\nb", at=NOON)

    assert lines(notice) == ["error   refused: a b"]


def test_the_rules_of_a_reload_are_lines_below_it() -> None:
    notice = Notice(
        about="board", level="warning", message="reloaded", at=NOON, detail={"rules": [RULE]}
    )

    assert lines(notice) == [
        "board   reloaded",
        "rule    deny rule 'shp__*' (board.yaml:4): it matches no tool",
    ]


@pytest.mark.parametrize("text", ["a\x1b[2Jb", "a\u202eb", "a\rb"])
def test_no_value_reaches_the_terminal_as_a_control(text: str) -> None:
    (line,) = lines(a_record(status="failed", error_message=text))

    assert line.isprintable()
    assert line.endswith("a�[2Jb" if "[" in text else "a�b")
