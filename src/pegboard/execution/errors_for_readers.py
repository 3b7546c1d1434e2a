"""Translate foreign exceptions, and show errors to model, caller and operator."""

import asyncio
import logging
import os
import secrets
import traceback
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from pegboard.concurrency.exception_groups import unwrap_single_error
from pegboard.core.event import RunErrorNoted
from pegboard.core.result import ToolResult
from pegboard.core.run_event import RUN_ERROR_IDS
from pegboard.core.stores.result_copy import without_traceback
from pegboard.errors import (
    AccessDenied,
    ApprovalRequired,
    CallerError,
    CredentialMissing,
    HostUnavailable,
    PegboardError,
    ToolArgumentError,
    ToolFailed,
    ToolTimeout,
    Unavailable,
)
from pegboard.execution.results.masking import mask_credentials
from pegboard.execution.results.redaction import make_redactor

_LOG = logging.getLogger("pegboard.tools")
_MAX_DETAIL = 16_000
_MAX_SEARCHED = 64_000
_MAX_HIDDEN = 1_000
_MAX_MESSAGE = 8_000
_PACKAGE = Path(__file__).parents[1]
_OWN = tuple(f"{_PACKAGE / room}{os.sep}" for room in ("execution", "tools", "concurrency"))
"""Folders of the frames through which every call passes."""


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
        ours.is_unlogged = True
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
    return ToolResult(content=describe_for_model(shown), is_error=True, error=shown)


def describe_for_model(error: PegboardError) -> str:
    """The sentence for the model: with the error id, or with when to try again."""
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


class _Detail:
    """A text that is made when a log handler writes it."""

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    def __str__(self) -> str:
        return self._make().rstrip()


def log_unexpected_error(
    tool: str, raised: BaseException, shown: PegboardError | None, describe: Callable[[], str]
) -> None:
    """Log an unexpected exception of a tool, with its stack and error id; once for all its calls.

    Args:
        tool: The name of the tool.
        raised: The error that ended the call.
        shown: The error of its result.
        describe: Returns the operator's detail.
    """
    if not isinstance(shown, ToolFailed) or not shown.is_unlogged:
        return
    shown.is_unlogged = False
    if isinstance(raised, ToolFailed):
        if not raised.is_unlogged:
            return
        raised.is_unlogged = False
    _LOG.error(
        "tools: '%s' failed with an unexpected exception (error id %s)\n%s",
        tool,
        shown.error_id,
        _Detail(describe),
    )


def make_run_error_id() -> str:
    """A new id of an error of a run that is none of a call."""
    return f"{RUN_ERROR_IDS}{secrets.token_hex(6)}"


def report_step_error(
    step: str, error: Exception, redact: Callable[[str], str] | None = None
) -> PegboardError:
    """The error of a step of a run that is no call, as a call reports that of its tool.

    It has an error id, unless the caller can resolve it. An unexpected exception is logged once
    with its stack.

    Args:
        step: The name of the step.
        error: What it raised.
        redact: Removes known secrets.
    """
    ours = translate_error(step, error)
    if ours.error_id is None and not isinstance(ours, CallerError):
        ours.error_id = make_run_error_id()
    shown = make_failed_result(ours, redact).error or ours
    log_unexpected_error(step, ours, shown, lambda: describe_for_operator(shown, redact))
    return shown


def describe_run_error(
    shown: PegboardError,
    *,
    run_id: str,
    at: float,
    step: str = "",
    redact: Callable[[str], str] | None = None,
) -> RunErrorNoted:
    """The event by which operators find the exception behind an error of a run.

    Args:
        shown: What the caller sees, with an error id; its cause is the exception.
        run_id: The run.
        at: Unix seconds.
        step: The step; empty for the run itself.
        redact: Removes known secrets.
    """
    return RunErrorNoted(
        error_id=shown.error_id or "",
        run_id=run_id,
        step=step,
        at=at,
        code=shown.code,
        message=str(shown),
        detail=describe_for_operator(shown, redact),
    )


def status_of(error: PegboardError) -> str:
    """The status of a call that ended with this error, for its record."""
    match error:
        case AccessDenied():
            return "denied"
        case CredentialMissing(approval_id=""):
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
    found = traceback.TracebackException.from_exception(error, lookup_lines=False)
    _drop_own_frames(found)
    text = "".join(found.format())
    hide = make_redactor(tuple({form for item in hidden for form in (item, repr(item)[1:-1])}))
    return text if hide is None else hide(text)


def _drop_own_frames(found: traceback.TracebackException) -> None:
    """Leave out the steps of the call, which are in every stack, from the error and its causes."""
    waiting, seen = [found], {id(found)}
    while waiting:
        item = waiting.pop()
        item.stack = _without_own(item.stack, is_last_kept=item.__cause__ is None)
        for inner in (item.__cause__, item.__context__, *(item.exceptions or ())):
            if inner is not None and id(inner) not in seen:
                seen.add(id(inner))
                waiting.append(inner)


def _without_own(
    stack: traceback.StackSummary, *, is_last_kept: bool = True
) -> traceback.StackSummary:
    kept = [frame for frame in stack if not frame.filename.startswith(_OWN)]
    return traceback.StackSummary.from_list(kept or (stack[-1:] if is_last_kept else []))


def _format_stack(error: BaseException) -> str:
    """Types and tracebacks without messages, where there are too many texts to remove."""
    inner = error.__cause__
    before = "" if inner is None else f"{_format_stack(inner)}\n"
    stack = "".join(_without_own(traceback.extract_tb(error.__traceback__)).format())
    return f"{before}{stack}{type(error).__name__}: (not kept: the call had too many arguments)\n"


def _when(retry_after: float | None) -> str:
    if retry_after is None:
        return "later"
    return f"in {retry_after:.0f} s" if retry_after >= 10 else f"in {max(retry_after, 0.1):.2g} s"
