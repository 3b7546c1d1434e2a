import json

import pytest
import typer
from tests.cli.conftest import Command

from pegboard.cli.exit_codes import WANTS_JSON, Exit, exit_code, exit_on_error
from pegboard.errors import (
    AccessDenied,
    ApprovalRequired,
    ConfigError,
    InvalidRequest,
    PegboardError,
    ToolFailed,
    ToolNotFound,
    Unavailable,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("x"), Exit.WRONG_USE),
        (InvalidRequest("x"), Exit.WRONG_USE),
        (ToolNotFound("x"), Exit.WRONG_USE),
        (AccessDenied("x", "y"), Exit.FAILED),
        (ApprovalRequired("x", "y"), Exit.FAILED),
        (ToolFailed("x"), Exit.FAILED),
        (Unavailable("x"), Exit.UNAVAILABLE),
        (PegboardError("x"), Exit.FAILED),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_each_error_has_its_exit_code(error: PegboardError, code: Exit) -> None:
    assert exit_code(error) is code


def test_an_error_is_said_and_ends_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as raised, exit_on_error():
        raise ConfigError("no board")

    assert raised.value.exit_code == 2
    assert capsys.readouterr().err == "pegboard: no board\n"


def test_an_interrupt_ends_as_shells_expect() -> None:
    with pytest.raises(typer.Exit) as raised, exit_on_error():
        raise KeyboardInterrupt

    assert raised.value.exit_code == 130


def test_with_json_an_error_is_json_on_stdout_too(
    pegboard: Command,
) -> None:
    done = pegboard("show", "my__gret", "--json")

    assert done.returncode == 2
    assert json.loads(done.stdout) == {
        "error": {
            "code": "tool_not_found",
            "message": "Tool 'my__gret' not found. Did you mean 'my__greet'?",
            "retryable": False,
        }
    }
    assert done.stderr.startswith("pegboard: Tool 'my__gret' not found.")
    assert pegboard("show", "my__gret").stdout == ""


def test_what_a_command_has_of_its_answer_goes_with_the_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    token = WANTS_JSON.set(True)
    with pytest.raises(typer.Exit), exit_on_error({"events": ["half"]}):
        raise Unavailable("The server stopped.")
    WANTS_JSON.reset(token)

    answer = json.loads(capsys.readouterr().out)
    assert (answer["events"], answer["error"]["code"]) == (["half"], "unavailable")
