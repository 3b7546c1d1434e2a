"""Foreign exceptions become ours, and ours become what each of three readers may see."""

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
from pegboard.execution.results.masking import masked
from pegboard.execution.results.redaction import redactor

_LONGEST_DETAIL = 16_000
_LONGEST_SEARCHED = 64_000
_MOST_HIDDEN = 1_000
_LONGEST_MESSAGE = 8_000


def translated(tool: str, error: BaseException) -> PegboardError:
    """Our error for whatever a tool raised; the original is its cause, for the operator only."""
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


def failed_result(error: PegboardError, redact: Callable[[str], str] | None = None) -> ToolResult:
    """The result of a failed call: what the model reads, and the typed error.

    The error is a copy: a tool may raise one instance for all its callers.
    """
    shown = _safe(error, redact or _unchanged)
    if shown.error_id is None and not isinstance(shown, CallerError):
        shown.error_id = f"e_{secrets.token_hex(6)}"
    return ToolResult(content=_for_model(shown), is_error=True, error=shown)


def _safe(error: PegboardError, redact: Callable[[str], str]) -> PegboardError:
    """A copy that holds no secrets in what may be shown of it, and is short."""
    copy = without_traceback(error)
    copy.args = tuple(_short(redact(x)) if isinstance(x, str) else x for x in error.args)
    if isinstance(copy, ToolArgumentError):
        copy.problems = tuple(
            replace(item, path=redact(item.path), message=redact(item.message))
            for item in copy.problems
        )
    copy.__cause__, copy.__context__ = error.__cause__, error.__context__
    copy.__suppress_context__ = error.__suppress_context__
    # the stack moves: on an instance that is raised again and again it would only grow
    copy.__traceback__, error.__traceback__ = error.__traceback__, None
    return copy


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


def detail_of(
    error: PegboardError,
    redact: Callable[[str], str] | None = None,
    *,
    hidden: Collection[str] = (),
) -> str:
    """Type, text and stack of the error and its causes, for the operator; the end when long.

    Args:
        error: What happened.
        redact: Takes known secrets out.
        hidden: Texts that must not be kept, as the arguments of the call.
    """
    if error.__cause__ is None and isinstance(error, CallerError):
        return ""
    text = _stack(error) if len(hidden) > _MOST_HIDDEN else _without(error, hidden)
    if redact is not None:
        text = redact(text)
    # cut first, and again: what is found by its look need not be looked for in megabytes
    text = masked(text[-_LONGEST_SEARCHED:])
    return text if len(text) <= _LONGEST_DETAIL else f"…{text[-_LONGEST_DETAIL:]}"


def _without(error: PegboardError, hidden: Collection[str]) -> str:
    text = "".join(traceback.format_exception(error))
    hide = redactor(tuple({form for item in hidden for form in (item, repr(item)[1:-1])}))
    return text if hide is None else hide(text)


def _stack(error: BaseException) -> str:
    """Types and stacks alone: more texts would have to be taken out than can be looked for."""
    inner = error.__cause__
    before = "" if inner is None else f"{_stack(inner)}\n"
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
