"""Exit codes of commands and errors."""

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from types import MappingProxyType
from typing import Any

import typer

from pegboard.errors import (
    AccessDenied,
    ApprovalRequired,
    CallerError,
    ConfigError,
    PegboardError,
    Unavailable,
)

WANTS_JSON: ContextVar[bool] = ContextVar("wants_json", default=False)
"""Whether the command that runs has the option `--json`."""


INTERRUPTED = 130
"""The exit code after Ctrl-C, as of shells: 128 and the number of SIGINT."""


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
def exit_on_error(unfinished: Mapping[str, Any] = MappingProxyType({})) -> Generator[None]:
    """Print an error to stderr, with `--json` also as JSON to stdout, and exit with its code.

    Args:
        unfinished: What the command has of its answer by then; it goes into the JSON.
    """
    try:
        yield
    except PegboardError as error:
        if WANTS_JSON.get():
            import json

            from pegboard.core.result import error_to_dict

            answer = {**unfinished, "error": error_to_dict(error)}
            print(json.dumps(answer, indent=2, ensure_ascii=False, default=str))  # noqa: T201 - as above
        print(f"pegboard: {error}", file=sys.stderr)  # noqa: T201 - the command line speaks here
        raise typer.Exit(exit_code(error)) from error
    except KeyboardInterrupt as error:
        raise typer.Exit(INTERRUPTED) from error
