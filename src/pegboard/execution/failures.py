"""Foreign exceptions become ours, and ours become what each of three readers may see."""

import asyncio
import secrets
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from pegboard.core.result import ToolResult
from pegboard.errors import (
    AccessDenied,
    ApprovalRequired,
    CallerError,
    PegboardError,
    ToolArgumentError,
    ToolFailed,
    Unavailable,
)

_LONGEST_DETAIL = 16_000
_LONGEST_MESSAGE = 8_000


def translated(tool: str, error: BaseException) -> PegboardError:
    """Our error for whatever a tool raised; the original is its cause, for the operator only."""
    error = _single(error)
    if isinstance(error, PegboardError):
        return error
    if isinstance(error, (ConnectionError, TimeoutError)):
        ours: PegboardError = Unavailable(f"'{tool}' could not reach what it needs.")
    elif isinstance(error, asyncio.CancelledError):
        ours = ToolFailed(f"'{tool}' was interrupted from within.")
    else:
        ours = ToolFailed(f"'{tool}' failed.")
    ours.__cause__ = error
    return ours


def failed_result(error: PegboardError, redact: Callable[[str], str] | None = None) -> ToolResult:
    """The result of a failed call: what the model reads, and the typed error."""
    _make_safe(error, redact or _unchanged)
    if error.error_id is None and not isinstance(error, CallerError):
        error.error_id = f"e_{secrets.token_hex(6)}"
    return ToolResult(content=_for_model(error), is_error=True, error=error)


def _single(error: BaseException) -> BaseException:
    """What a group of one is about: a task group wraps even a lone `ToolFailed`."""
    inner = error
    while isinstance(inner, BaseExceptionGroup):
        errors = cast("BaseExceptionGroup[BaseException]", inner).exceptions
        if len(errors) != 1:
            return error
        inner = errors[0]
    return inner


def _make_safe(error: PegboardError, redact: Callable[[str], str]) -> None:
    """Take secrets out of what may be shown of it, and keep it short."""
    error.args = tuple(_short(redact(x)) if isinstance(x, str) else x for x in error.args)
    if isinstance(error, ToolArgumentError):
        error.problems = tuple(
            replace(item, path=redact(item.path), message=redact(item.message))
            for item in error.problems
        )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}…"


def _unchanged(text: str) -> str:
    return text


def status_of(error: PegboardError) -> str:
    """How the record calls it."""
    match error:
        case AccessDenied():
            return "denied"
        case ApprovalRequired():
            return "approval_needed"
        case CallerError():
            return "invalid"
        case Unavailable():
            return "unavailable"
        case _:
            return "failed"


def detail_of(error: PegboardError, redact: Callable[[str], str] | None = None) -> str:
    """Type, text and stack of the error and its causes, for the operator; the end when long."""
    if error.__cause__ is None and isinstance(error, CallerError):
        return ""
    text = "".join(traceback.format_exception(error))
    if redact is not None:
        text = redact(text)
    return text if len(text) <= _LONGEST_DETAIL else f"…{text[-_LONGEST_DETAIL:]}"


def _for_model(error: PegboardError) -> str:
    text = str(error)
    if isinstance(error, Unavailable):
        sentence = text if text.endswith((".", "!", "?", "…")) else f"{text}."
        if not error.retryable:
            return f"{sentence} Trying again does not help."
        return f"{sentence} It is unavailable now, try again {_when(error.retry_after)}."
    if isinstance(error, CallerError):
        return text
    return f"{text} (error id {error.error_id})"


def _when(retry_after: float | None) -> str:
    if retry_after is None:
        return "later"
    return f"in {retry_after:.0f} s" if retry_after >= 10 else f"in {max(retry_after, 0.1):.2g} s"
