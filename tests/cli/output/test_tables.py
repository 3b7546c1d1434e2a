import io
import json
import time

import pytest

from pegboard.cli.output.tables import (
    count_noun,
    first_line,
    format_time,
    note,
    say,
    say_json,
    table,
)


class _Stream(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


def test_a_table_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    table(("name",), [("evil\x1b[2Jname",)])

    assert "\x1b" not in capsys.readouterr().out


def test_lines_of_a_table_end_with_their_last_word(capsys: pytest.CaptureFixture[str]) -> None:
    table(("name", "description"), [("a", "short"), ("b", "a longer description")])

    assert capsys.readouterr().out.splitlines() == [
        "name  description",
        "a     short",
        "b     a longer description",
    ]


def test_a_note_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    note("evil\x1b[2J\tname\n")

    assert capsys.readouterr().err == "evil�[2J\tname\n\n"


@pytest.mark.parametrize(("terminal", "shown"), [(True, "evil�[2J"), (False, "evil\x1b[2J")])
def test_an_answer_is_plain_on_a_terminal_and_whole_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, shown: str
) -> None:
    out = _Stream(terminal)
    monkeypatch.setattr("sys.stdout", out)

    say("evil\x1b[2J")

    assert out.getvalue() == f"{shown}\n"


def test_markup_in_foreign_text_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    table(("name",), [("[bold]x[/bold] [/nonsense]",)])

    assert "[bold]x[/bold] [/nonsense]" in capsys.readouterr().out


def test_the_answer_goes_to_stdout_and_the_rest_to_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say("a")
    say_json({"b": "ü"})
    note("c")

    said = capsys.readouterr()
    assert said.out == 'a\n{\n  "b": "ü"\n}\n'
    assert said.err == "c\n"


def test_json_on_stdout_has_null_for_numbers_that_json_does_not_have(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say_json({"a": float("nan"), "b": [float("inf"), 1.5]})

    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [None, 1.5]}


def test_a_description_is_cut_to_its_first_line() -> None:
    assert first_line("One.\nTwo.") == "One."
    assert first_line("x" * 200) == "x" * 89 + "…"


def test_one_is_counted_as_one() -> None:
    assert [count_noun(number, "tool") for number in (0, 1, 2)] == ["0 tools", "1 tool", "2 tools"]


def test_a_time_is_told_where_the_reader_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert format_time(0.0) == "1970-01-01 09:00:00"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("seconds", [1e308, 1e15, -1e15])
def test_a_time_beyond_all_calendars_is_told_too(seconds: float) -> None:
    assert format_time(seconds) == "never"
