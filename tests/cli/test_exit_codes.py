import pytest
import typer

from pegboard.cli.exit_codes import Exit, exit_code, exit_on_error
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
