"""Checks of a request over HTTP that the SDK leaves out, and the errors that answer it."""

from collections.abc import Mapping

from mcp.server.streamable_http import LAST_EVENT_ID_HEADER
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import ErrorData, JSONRPCError, RequestId
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive, Scope


def error_response(
    status: int,
    code: int,
    message: str,
    *,
    request_id: RequestId | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A JSON-RPC error as an HTTP response.

    Args:
        status: HTTP status.
        code: JSON-RPC error code.
        message: What to change.
        request_id: Id of the request; None if it could not be read.
        headers: Further headers of the response.
    """
    error = JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))
    body = error.model_dump_json(by_alias=True, exclude_unset=True)
    return Response(body, status, headers, media_type="application/json")


def is_stateless(scope: Scope) -> bool:
    """Whether a request belongs to no session, by the protocol version that it names."""
    version = Headers(scope=scope).get(MCP_PROTOCOL_VERSION_HEADER)
    return version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS


def without_last_event_id(scope: Scope) -> Scope:
    """The same request without `Last-Event-ID`, which the SDK would not answer at all.

    Streams cannot be resumed: the server stores no events, and gives none an id.
    """
    name = LAST_EVENT_ID_HEADER.encode()
    return {**scope, "headers": [item for item in scope["headers"] if item[0] != name]}


async def buffer_body(receive: Receive) -> tuple[bytes, Receive]:
    """Read the whole body, whose size the server limits; returns it, and a way to read it again.

    Raises:
        ClientDisconnect: The client left within its body; the SDK would log that as an error.
    """
    pieces: list[bytes] = []
    is_whole = False
    while not is_whole:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientDisconnect
        pieces.append(message.get("body", b""))
        is_whole = not message.get("more_body", False)
    body = b"".join(pieces)
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return waiting.pop() if waiting else await receive()

    return body, receive_again
