"""Exit codes, and how errors become them."""

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
    """What a script can tell from `$?`."""

    DONE = 0
    FAILED = 1
    WRONG_USE = 2
    UNAVAILABLE = 3


def exit_code(error: PegboardError) -> Exit:
    """The code for an error: what the caller can mend is wrong use, what may pass unavailable."""
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
    """Say what went wrong on stderr, and end with its code."""
    try:
        yield
    except PegboardError as error:
        print(f"pegboard: {error}", file=sys.stderr)  # noqa: T201 - the command line speaks here
        raise typer.Exit(exit_code(error)) from error
    except KeyboardInterrupt as error:
        raise typer.Exit(130) from error
