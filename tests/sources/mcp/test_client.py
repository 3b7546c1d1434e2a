"""What the MCP library raises, as our errors."""

import asyncio
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError
from pydantic import TypeAdapter, ValidationError

from pegboard.errors import (
    InvalidRequest,
    MCPConnectionError,
    PegboardError,
    RateLimited,
    SourceUnavailable,
    ToolFailed,
    ToolTimeout,
)
from pegboard.sources.mcp.client import connection_error, translate_error
from pegboard.sources.mcp.config import McpConfig
from pegboard.sources.mcp.transport.http_failures import SessionLost
from pegboard.sources.mcp.transport.transports import Link, ServerStatus

LINK = Link(name="shop", config=McpConfig(command="x"), http=None, base_dir=Path())


def _invalid(kind: Any = int, value: Any = "x") -> Exception:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (MCPError(types.INVALID_PARAMS, "no glue"), InvalidRequest, "'shop': no glue"),
        (MCPError(types.REQUEST_TIMEOUT, "It timed out"), ToolTimeout, "It timed out"),
        (MCPError(types.REQUEST_TIMEOUT, "no such thing"), ToolFailed, "no such thing"),
        (TimeoutError(), MCPConnectionError, "did not answer in time"),
        (
            MCPError(types.CONNECTION_CLOSED, "Connection closed"),
            MCPConnectionError,
            "it answered: Connection closed",
        ),
        (MCPError(types.CONNECTION_CLOSED, "no licence"), ToolFailed, "no licence"),
        (
            MCPError(types.PARSE_ERROR, "Failed to parse JSON response: secret"),
            ToolFailed,
            "answered with an invalid JSON-RPC message.",
        ),
        (
            MCPError(types.PARSE_ERROR, "Failed to parse", "at 'error': no"),
            ToolFailed,
            "invalid JSON-RPC message: at 'error': no.",
        ),
        (MCPError(types.PARSE_ERROR, "I cannot read that"), ToolFailed, "I cannot read that"),
        (MCPError(types.METHOD_NOT_FOUND, " "), ToolFailed, "it gave no reason"),
        (MCPError(-1, "x" * 5000), ToolFailed, "x" * 2000 + "…"),
        (
            MCPError(
                types.URL_ELICITATION_REQUIRED, "Log in.", {"elicitations": [{"url": "http://a/"}]}
            ),
            ToolFailed,
            "Log in. Open http://a/ first",
        ),
        (MCPError(types.URL_ELICITATION_REQUIRED, "Log in.", [1]), ToolFailed, "Log in"),
        (MCPError(types.URL_ELICITATION_REQUIRED, "Go.", {"elicitations": []}), ToolFailed, "Go"),
        (_invalid(), ToolFailed, "a result that MCP does not allow"),
        (RuntimeError("secret inside"), ToolFailed, "failed .RuntimeError"),
        (ExceptionGroup("", [MCPError(-1, "inner")]), ToolFailed, "inner"),
        (ExceptionGroup("", [OSError(), OSError()]), ToolFailed, "ExceptionGroup"),
        (SessionLost("forgotten"), SessionLost, "forgotten"),
    ],
    ids=[
        *("params", "timeout", "its-own-timeout", "late", "closed", "its-own-closed", "garbled"),
        *("placed", "unread", "blank", "long", "pages", "odd", "no-page", "invalid"),
        *("other", "group", "two", "ours"),
    ],
)
def test_a_failed_request_becomes_one_of_our_errors(
    error: Exception, kind: type[PegboardError], says: str
) -> None:
    found = translate_error(LINK, None, "", error)

    assert type(found) is kind
    assert says.replace(" .", " (") in str(found)
    assert "secret" not in str(found)


def test_an_answer_that_is_not_allowed_is_told_by_its_place_and_not_shown() -> None:
    listed = {"tools": [{"name": "a", "inputSchema": "secret"}]}
    found = translate_error(LINK, None, "", _invalid(types.ListToolsResult, listed))

    assert "allow, at 'tools.0.inputSchema': Input should be a valid dict" in found.message
    assert "secret" not in found.message


def test_what_the_transport_knows_is_told_first() -> None:
    fault = RateLimited("slowly")

    assert translate_error(LINK, fault, "", MCPError(-1, "x")) is fault
    assert "because" in str(translate_error(LINK, None, "because", RuntimeError()))
    closed = MCPError(types.CONNECTION_CLOSED, "Connection closed")
    assert "because" in str(translate_error(LINK, None, "because", closed))


class Told(ServerStatus):
    """A connection whose child ended like this."""

    def __init__(self, why: str) -> None:
        super().__init__("shop")
        self._why = why

    def reason(self) -> str:
        return self._why

    def last_words(self) -> str:
        return self._why[len(self._why.partition("; ")[0]) :]


@pytest.mark.parametrize(
    ("fault", "why", "error", "says"),
    [
        (
            None,
            "",
            TimeoutError(),
            "did not complete the handshake within 30 s. Check that it is an MCP server",
        ),
        (None, "it was ended; its last words: hm", TimeoutError(), "Meanwhile its last words: hm"),
        (RateLimited("slowly", retry_after=3), "", OSError(), "slowly The session"),
        (MCPConnectionError("no route"), "", OSError(), "no route"),
        (None, "it ended", OSError(), "could not be started: it ended"),
        (None, "it was ended", MCPError(-32000, "no licence"), "to begin: no licence (code -32000"),
        (None, "", _invalid(types.InitializeResult, {}), "at 'protocolVersion': Field required. C"),
        (
            None,
            "it was ended",
            RuntimeError("Unsupported protocol version from the server: 1999-01-01"),
            "speaks another version of MCP (1999-01-01); Pegboard speaks 2024-11-05, ",
        ),
        (
            None,
            "",
            MCPError(types.UNSUPPORTED_PROTOCOL_VERSION, "no", {"supported": ["3000"]}),
            "speaks another version of MCP (3000)",
        ),
        (None, "", MCPError(types.UNSUPPORTED_PROTOCOL_VERSION, "no", 5), "does not say which"),
        (
            None,
            "it was ended; its last words: hm",
            MCPError(types.PARSE_ERROR, "Failed to parse", "it is not an object"),
            "JSON-RPC message: it is not an object. Check that the url or the command is an MCP s",
        ),
        (None, "", MCPError(types.METHOD_NOT_FOUND, "no"), "With 'protocol: auto' all are tried"),
        (None, "", MCPError(-7, "not you"), "refuses to begin: not you (code -7)"),
        (None, "", asyncio.CancelledError(), "does not speak MCP as it should"),
        (None, "", SourceUnavailable("no network", permanent=True), "no network"),
    ],
    ids=[
        *("silent", "words", "limited", "fault", "ended", "licence", "greeting", "version"),
        *("modern", "unsaid", "garbled", "unknown", "refused", "odd", "ours"),
    ],
)
def test_a_session_that_cannot_be_opened_says_what_to_check(
    fault: Any, why: str, error: BaseException, says: str
) -> None:
    found = connection_error(LINK, fault, Told(why), error)

    assert type(found) is MCPConnectionError
    assert says in str(found)
