"""Translate foreign exceptions, and show errors to model, caller and operator."""

import asyncio
import secrets
import traceback
from collections.abc import Callable, Collection
from dataclasses import replace

from pegboard.concurrency.exception_groups import unwrap_single_error
from pegboard.core.result import ToolResult
from pegboard.core.result_copy import without_traceback
from pegboard.errors import (
    AccessDenied,
    ApprovalRequired,
    CallerError,
    HostUnavailable,
    PegboardError,
    ToolArgumentError,
    ToolFailed,
    ToolTimeout,
    Unavailable,
)
from pegboard.execution.results.masking import mask_credentials
from pegboard.execution.results.redaction import make_redactor

_MAX_DETAIL = 16_000
_MAX_SEARCHED = 64_000
_MAX_HIDDEN = 1_000
_MAX_MESSAGE = 8_000


def translate_error(tool: str, error: BaseException) -> PegboardError:
    """The `PegboardError` for an exception of a tool, with the original as its cause."""
    error = unwrap_single_error(error)
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


def make_failed_result(
    error: PegboardError, redact: Callable[[str], str] | None = None
) -> ToolResult:
    """The result of a failed call: the text for the model and the typed error.

    The error is a copy, because a tool may raise one instance for all its callers.
    """
    shown = _safe(error, redact or _identity)
    if shown.error_id is None and not isinstance(shown, CallerError):
        shown.error_id = f"e_{secrets.token_hex(6)}"
    return ToolResult(content=_for_model(shown), is_error=True, error=shown)


def _safe(error: PegboardError, redact: Callable[[str], str]) -> PegboardError:
    """A short copy of the error without secrets."""
    copy = without_traceback(error)
    copy.args = tuple(_shorten(redact(x)) if isinstance(x, str) else x for x in error.args)
    if isinstance(copy, ToolArgumentError):
        copy.problems = tuple(
            replace(item, path=redact(item.path), message=redact(item.message))
            for item in copy.problems
        )
    copy.__cause__, copy.__context__ = error.__cause__, error.__context__
    copy.__suppress_context__ = error.__suppress_context__
    # the traceback moves: on an instance that is raised repeatedly it would only grow
    copy.__traceback__, error.__traceback__ = error.__traceback__, None
    return copy


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"


def _identity(text: str) -> str:
    return text


def status_of(error: PegboardError) -> str:
    """The status of a call that ended with this error, for its record."""
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


def describe_for_operator(
    error: PegboardError,
    redact: Callable[[str], str] | None = None,
    *,
    hidden: Collection[str] = (),
) -> str:
    """Type, text and traceback of the error and its causes, for the operator; cut at the start.

    Args:
        error: The error of the call.
        redact: Removes known secrets.
        hidden: Texts to remove, such as the arguments of the call.
    """
    if error.__cause__ is None and isinstance(error, CallerError):
        return ""
    text = _format_stack(error) if len(hidden) > _MAX_HIDDEN else _format_without(error, hidden)
    if redact is not None:
        text = redact(text)
    # cut before masking too: patterns need not be searched for in megabytes
    text = mask_credentials(text[-_MAX_SEARCHED:])
    return text if len(text) <= _MAX_DETAIL else f"…{text[-_MAX_DETAIL:]}"


def _format_without(error: PegboardError, hidden: Collection[str]) -> str:
    text = "".join(traceback.format_exception(error))
    hide = make_redactor(tuple({form for item in hidden for form in (item, repr(item)[1:-1])}))
    return text if hide is None else hide(text)


def _format_stack(error: BaseException) -> str:
    """Types and tracebacks without messages, where there are too many texts to remove."""
    inner = error.__cause__
    before = "" if inner is None else f"{_format_stack(inner)}\n"
    stack = "".join(traceback.format_tb(error.__traceback__))
    return f"{before}{stack}{type(error).__name__}: (not kept: the call had too many arguments)\n"


def _for_model(error: PegboardError) -> str:
    text = str(error)
    if isinstance(error, Unavailable):
        sentence = text if text.endswith((".", "!", "?", "…")) else f"{text}."
        if isinstance(error, ToolTimeout | HostUnavailable) and not error.retryable:
            return sentence  # which says what to do
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
