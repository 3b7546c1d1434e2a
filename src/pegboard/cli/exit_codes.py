"""Exit codes of commands and errors."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from enum import IntEnum

import typer

from pegboard.errors import (
    AccessDenied,
    ApprovalRequired,
    CallerError,
    ConfigError,
    PegboardError,
    Unavailable,
)


class Exit(IntEnum):
    """The exit codes of `pegboard`."""

    DONE = 0
    FAILED = 1
    WRONG_USE = 2
    UNAVAILABLE = 3


def exit_code(error: PegboardError) -> Exit:
    """The exit code of an error: wrong use for what the caller can fix."""
    match error:
        case AccessDenied() | ApprovalRequired():
            return Exit.FAILED
        case ConfigError() | CallerError():
            return Exit.WRONG_USE
        case Unavailable():
            return Exit.UNAVAILABLE
        case _:
            return Exit.FAILED


@contextmanager
def exit_on_error() -> Generator[None]:
    """Print an error to stderr and exit with its code."""
    try:
        yield
    except PegboardError as error:
        print(f"pegboard: {error}", file=sys.stderr)  # noqa: T201 - the command line speaks here
        raise typer.Exit(exit_code(error)) from error
    except KeyboardInterrupt as error:
        raise typer.Exit(130) from error
