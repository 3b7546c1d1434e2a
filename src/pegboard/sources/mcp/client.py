"""Translates errors of the MCP library, and invalid answers of servers, into Pegboard's errors."""

from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from pegboard.concurrency.exception_groups import unwrap_single_error
from pegboard.errors import (
    CredentialMissing,
    InvalidRequest,
    MCPConnectionError,
    PegboardError,
    ToolFailed,
    ToolTimeout,
)
from pegboard.sources.mcp.transport.malformed_messages import PREFIX, describe_first_error
from pegboard.sources.mcp.transport.transports import Link, ServerStatus

_MAX_MESSAGE = 2000
_MAX_VERSION = 200
_CLOSED = ("Connection closed", "SSE stream ")
_ADVICE = "Check that the url or the command is an MCP server's, and its version."


def connection_error(
    link: Link, fault: PegboardError | None, wire: ServerStatus, error: BaseException
) -> MCPConnectionError:
    """The error for a session that could not be opened, with what to check.

    Args:
        link: How the server was to be reached.
        fault: The error of the HTTP client or of a status; None when there was none.
        wire: The state of the server process, if there is one.
        error: The exception of the MCP library.
    """
    cause = unwrap_single_error(error)
    if isinstance(fault, CredentialMissing):
        found = MCPConnectionError(fault.message, permanent=True, nothing_done=True)
        found.__cause__ = fault
        return found
    if isinstance(cause, MCPConnectionError):
        return cause
    if isinstance(cause, PegboardError):
        return MCPConnectionError(cause.message, permanent=not cause.retryable)
    if isinstance(cause, TimeoutError):
        found = MCPConnectionError(
            f"{link.title} did not complete the handshake within {link.connect_timeout:g} s."
            f"{_output_so_far(wire)} Check that it is an MCP server, or give it more time with "
            "'connect_timeout'."
        )
    elif isinstance(fault, MCPConnectionError):
        return fault
    elif fault is not None:
        found = MCPConnectionError(
            f"{fault.message} The session could not be opened.", retry_after=fault.retry_after
        )
    elif wire.offence():
        found = MCPConnectionError(f"{link.title}: {wire.reason()}.")
    elif refusal := _refusal(cause):
        found = MCPConnectionError(f"{link.title} {refusal}{_output_so_far(wire)}")
    elif wire.reason():
        found = MCPConnectionError(
            f"{link.title} could not be started: {wire.reason()}. Check its command and arguments."
        )
    else:
        kind = type(cause).__name__
        found = MCPConnectionError(
            f"{link.title} does not speak MCP as it should ({kind}); the log says more."
        )
    found.__cause__ = cause
    return found


def _output_so_far(wire: ServerStatus) -> str:
    words = wire.last_words().removeprefix("; ")
    return f" Meanwhile {words}." if words else ""


def _refusal(cause: BaseException) -> str:
    """What is wrong with the answer to the handshake; empty where there was none."""
    if isinstance(cause, ValidationError):
        place = _place(cause)
        return f"answered the handshake with a message that MCP does not allow{place}. {_ADVICE}"
    if isinstance(cause, RuntimeError) and "protocol version" in str(cause):
        # the library has no class for it: the version stands at the end of its message
        return _version_message(str(cause).rpartition(": ")[2])
    if not isinstance(cause, MCPError) or _is_closed(cause):
        return ""
    if cause.code == types.UNSUPPORTED_PROTOCOL_VERSION:
        return _version_message(_versions_of(cause.data))
    if garbled := _malformed_answer(cause):
        return f"{garbled} {_ADVICE}"
    if cause.code == types.METHOD_NOT_FOUND:
        return f"does not know this way to begin. With 'protocol: auto' all are tried. {_ADVICE}"
    return (
        f"refuses to begin: {_message_of(cause)} (code {cause.code}). Check that the url or the "
        "command is an MCP server's, and what it wants of its clients."
    )


def _versions_of(data: Any) -> str:
    try:
        return ", ".join(map(str, data["supported"]))
    except (KeyError, TypeError):
        return "it does not say which"


def _version_message(spoken: str) -> str:
    ours = ", ".join((*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS))
    return (
        f"speaks another version of MCP ({spoken[:_MAX_VERSION]}); Pegboard speaks {ours}. "
        "Use a version of the server that speaks one of these; with 'protocol: auto' all are tried."
    )


def _malformed_answer(error: MCPError) -> str:
    """Why an answer is not valid JSON-RPC; empty for other errors."""
    if error.code != types.PARSE_ERROR or not error.message.startswith(PREFIX):
        return ""
    # the library's own text quotes what stands there, which may be long, and may be secret
    where = f": {error.data}" if isinstance(error.data, str) and error.data else ""
    return f"answered with an invalid JSON-RPC message{where}."


def translate_error(
    link: Link, fault: PegboardError | None, why: str, error: Exception
) -> PegboardError:
    """The error for one request that failed.

    Args:
        link: The server.
        fault: The error of the HTTP client or of a status for this request; it comes first.
        why: Why the session ended; empty when it did not.
        error: The exception of the MCP library.
    """
    cause = unwrap_single_error(error)
    if isinstance(cause, PegboardError):
        return cause
    found = fault or _translate(link, why, cause)
    if found.__cause__ is None:
        found.__cause__ = cause
    return found


def _translate(link: Link, why: str, error: BaseException) -> PegboardError:
    if isinstance(error, MCPError):
        return _translate_mcp_error(link, why, error)
    if isinstance(error, TimeoutError):
        return MCPConnectionError(f"{link.title} did not answer in time. Check that it is healthy.")
    if isinstance(error, ValidationError):
        return ToolFailed(
            f"{link.title} answered with a result that MCP does not allow{_place(error)}."
        )
    if why:
        return MCPConnectionError(f"{link.title} broke off: {why}.")
    return ToolFailed(f"{link.title} failed ({type(error).__name__}).")


def _place(error: ValidationError) -> str:
    place = describe_first_error(error)
    return f", {place}" if place else ""


def _translate_mcp_error(link: Link, why: str, error: MCPError) -> PegboardError:
    if garbled := _malformed_answer(error):
        return ToolFailed(f"{link.title} {garbled}")
    words = _message_of(error)
    if _is_closed(error):
        reason = why or words.rstrip(".")
        return MCPConnectionError(f"{link.title} broke off before it answered: {reason}.")
    match error.code:
        case types.REQUEST_TIMEOUT if words.endswith("timed out"):
            return ToolTimeout(f"{link.title}: {words}")
        case types.INVALID_PARAMS:
            return InvalidRequest(f"{link.title}: {words}")
        case types.URL_ELICITATION_REQUIRED:
            return ToolFailed(f"{link.title}: {words}{_pages_to_open(error.data)}")
        case _:
            return ToolFailed(f"{link.title}: {words}")


def _is_closed(error: MCPError) -> bool:
    """Whether the library reports a closed connection; servers use its code for others too."""
    return error.code == types.CONNECTION_CLOSED and error.message.startswith(_CLOSED)


def _pages_to_open(data: Any) -> str:
    """The URLs that a person has to open first."""
    try:
        urls = [str(item["url"]) for item in data["elicitations"]]
    except (KeyError, TypeError):
        return ""
    return f" Open {' and '.join(urls)} first." if urls else ""


def _message_of(error: MCPError) -> str:
    text = error.message.strip() or "it gave no reason"
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"
