"""Where what the MCP library raises, and what servers answer wrongly, becomes our errors."""

from typing import Any, cast

import mcp_types as types
from mcp import MCPError
from pydantic import ValidationError

from pegboard.errors import (
    InvalidRequest,
    MCPConnectionError,
    PegboardError,
    ToolFailed,
    ToolTimeout,
)
from pegboard.sources.mcp.transports import Link

_LONGEST = 2000
_LONGEST_PLACE = 200


def connection_error(
    link: Link, fault: PegboardError | None, why: str, error: BaseException
) -> MCPConnectionError:
    """Why a session could not be opened, and what to check.

    Args:
        link: How the server was to be reached.
        fault: What the HTTP client or a status said; None when it said nothing.
        why: How the child process ended; empty without one.
        error: What the library raised.
    """
    cause = _innermost(error)
    if isinstance(cause, MCPConnectionError):
        return cause
    if isinstance(cause, PegboardError):
        return MCPConnectionError(cause.message, permanent=not cause.retryable)
    if isinstance(cause, TimeoutError):
        words = why.partition("; ")[2]
        said = f" Meanwhile {words}." if words else ""
        found = MCPConnectionError(
            f"{link.title} did not greet within {link.connect_timeout:g} s.{said} Check that it is "
            "an MCP server, or give it more time with 'connect_timeout'."
        )
    elif isinstance(fault, MCPConnectionError):
        return fault
    elif fault is not None:
        found = MCPConnectionError(
            f"{fault.message} No session could be opened.", retry_after=fault.retry_after
        )
    elif why:
        found = MCPConnectionError(
            f"{link.title} could not be started: {why}. Check its command and arguments."
        )
    elif isinstance(cause, MCPError):
        found = MCPConnectionError(
            f"{link.title} refuses to begin: {_words(cause)} (code {cause.code}). Check that the "
            "url or the command is an MCP server's, and what it wants of its clients."
        )
    else:
        kind = type(cause).__name__
        found = MCPConnectionError(
            f"{link.title} does not speak MCP as it should ({kind}); the log says more."
        )
    found.__cause__ = cause
    return found


def translated(
    link: Link, fault: PegboardError | None, why: str, error: Exception
) -> PegboardError:
    """What went wrong with one request.

    Args:
        link: Whose server it was.
        fault: What the HTTP client or a status said of this request; it knows best.
        why: Why the session ended; empty when it did not.
        error: What the library raised.
    """
    cause = _innermost(error)
    if isinstance(cause, PegboardError):
        return cause
    found = fault or _translated(link, why, cause)
    if found.__cause__ is None:
        found.__cause__ = cause
    return found


def _translated(link: Link, why: str, error: BaseException) -> PegboardError:
    if isinstance(error, MCPError):
        return _of_code(link, why, error)
    if isinstance(error, ValidationError):
        return ToolFailed(f"{link.title} answered with what MCP does not allow{_place(error)}.")
    if why:
        return MCPConnectionError(f"{link.title} broke off: {why}.")
    return ToolFailed(f"{link.title} could not be asked ({type(error).__name__}).")


def _place(error: ValidationError) -> str:
    """Where in the answer and why, without what stands there."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f", at '{place[:_LONGEST_PLACE]}': {first['msg'][:_LONGEST_PLACE]}" if place else ""


def _of_code(link: Link, why: str, error: MCPError) -> PegboardError:
    words = _words(error)
    match error.code:
        case types.CONNECTION_CLOSED:
            reason = why or words.rstrip(".")
            return MCPConnectionError(f"{link.title} broke off before it answered: {reason}.")
        case types.REQUEST_TIMEOUT:
            return ToolTimeout(f"{link.title}: {words}")
        case types.INVALID_PARAMS:
            return InvalidRequest(f"{link.title}: {words}")
        case types.URL_ELICITATION_REQUIRED:
            return ToolFailed(f"{link.title}: {words}{_pages(error.data)}")
        case _:
            return ToolFailed(f"{link.title}: {words}")


def _pages(data: Any) -> str:
    """Where a person has to go first."""
    try:
        urls = [str(item["url"]) for item in data["elicitations"]]
    except (KeyError, TypeError):
        return ""
    return f" Open {' and '.join(urls)} first." if urls else ""


def _words(error: MCPError) -> str:
    text = error.message.strip() or "it gave no reason"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _innermost(error: BaseException) -> BaseException:
    """What a group of one is about."""
    inner = error
    while isinstance(inner, BaseExceptionGroup):
        errors = cast("BaseExceptionGroup[BaseException]", inner).exceptions
        if len(errors) != 1:
            return error
        inner = errors[0]
    return inner
