"""How an answer looks on a terminal."""

import io
from typing import Any

import pytest

from pegboard.cli.output.chat import AnswerPrinter, ask_for_scope, describe_approval
from pegboard.features.approvals.grants import Scope
from pegboard.features.conversations import ChatEvent


def shown(capsys: pytest.CaptureFixture[str], *events: tuple[str, dict[str, Any]]) -> Any:
    printer = AnswerPrinter()
    for kind, data in events:
        printer.print_event(ChatEvent(event=kind, data={"conversation": "c", **data}))
    return printer, capsys.readouterr()


def test_text_goes_to_stdout_and_calls_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    printer, said = shown(
        capsys,
        ("text_delta", {"text": "Let me see."}),
        ("tool_started", {"tool": "find", "arguments": {"n": 7}}),
        (
            "tool_progress",
            {"attempt": 2, "max_attempts": 3, "delay": 1.6, "error_code": "unavailable"},
        ),
        ("tool_progress", {"done": 1}),
        ("tool_finished", {"state": "failed", "text": "gone\nfor good", "duration_ms": 3.2}),
        ("never_heard_of", {}),
        ("text_delta", {"text": "It is gone."}),
        ("done", {"state": "completed", "text": "It is gone.", "finish": "stop"}),
    )

    assert said.out == "Let me see.\nIt is gone.\n"
    assert said.err == (
        '* find {"n": 7}\n  try 2 of 3 in 2 s, after: unavailable\n  failed: gone for good\n'
    )
    assert (printer.state, printer.conversation) == ("completed", "c")


def test_an_error_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    _, said = shown(capsys, ("error", {"detail": "busy"}), ("done", {"state": "failed"}))

    assert said.err == "error: busy\n"


@pytest.mark.parametrize(
    ("scopes", "typed", "chosen"),
    [
        (["once"], "y\n", "once"),
        (["once"], "\n", "no"),
        (["once"], "t\nn\n", "no"),
        (["once", "arguments", "tool"], "A\n", "arguments"),
        (["once", "arguments", "tool"], "what?\nt\n", "tool"),
    ],
    ids=["yes", "nothing typed", "what is not offered", "these arguments", "the tool"],
)
def test_a_person_chooses_what_a_call_is_approved_for(
    scopes: list[Scope], typed: str, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))

    assert ask_for_scope(scopes) == chosen


def test_a_long_call_is_shortened() -> None:
    line = describe_approval({"tool": "pay", "arguments": {"x": "y" * 300}, "reason": "policy"})

    assert len(line) < 160
    assert line.endswith("… needs an approval: policy")


def test_the_steps_of_a_plan_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    steps = [{"id": "a", "title": "Look up Ada"}, {"id": "b", "title": "Compare"}]
    _, said = shown(capsys, ("plan", {"round": 1, "steps": steps}))

    assert said.err == "plan: Look up Ada; Compare\n"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"text": "Half", "finish": "length"}, "reached its limit of output"),
        ({"text": "", "finish": "content_filter"}, "content filter"),
        ({"text": "", "finish": "stop"}, "The model gave no answer."),
    ],
)
def test_an_answer_that_is_not_whole_has_a_note(
    data: dict[str, Any], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, said = shown(capsys, ("done", {"state": "completed", **data}))

    assert says in said.err


def test_text_in_a_pipe_controls_no_terminal_behind_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, said = shown(
        capsys,
        ("text_delta", {"text": "a\x1b[2J\x1b]0;b\x07c \u202edef\r\n\tg\rh\n"}),
        ("done", {"state": "completed", "text": "x"}),
    )

    assert said.out == "a�[2J�]0;b�c �def\r\n\tg�h\n"
