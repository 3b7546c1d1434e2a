"""The ids of a session's requests: no two open requests with one id, and an answer for each.

The SDK finds the stream of a response by the text of the id, so that `1` and `"1"` are the same,
and a second request would take over the stream of the first, which is never answered then.
"""

import asyncio
from typing import Any

import msgspec
from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCError, RequestId
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pegboard.errors import Unavailable
from pegboard.servers.mcp.http.message_checks import error_response
from pegboard.servers.mcp.protocol_errors import DUPLICATE_ID, MALFORMED_ID, protocol_error

_RELEASE_TIMEOUT = 0.25
"""Seconds that a request waits for an earlier one with its id whose answer is being sent."""


class _Head(msgspec.Struct):
    """The fields of a message that are read here; the SDK validates all of it."""

    id: Any = msgspec.UNSET
    method: Any = None


class RequestIdGuard:
    """ASGI application in front of the SDK's: answers a request whose id is in use itself.

    Args:
        app: The SDK's application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: dict[tuple[str, str, str], asyncio.Future[None]] = {}

    async def handle(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        body: bytes,
        owner: str,
        session: str,
    ) -> None:
        """Answer a request of a session.

        Args:
            scope: Of the request.
            receive: Receives its body (again).
            send: Sends the answer.
            body: The same body.
            owner: The caller: nobody learns which ids other callers use.
            session: The id of the session.
        """
        try:
            head = msgspec.json.decode(body, type=_Head)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            # the SDK reads some of these bodies, and this guard would not know their ids
            is_json = isinstance(error, msgspec.ValidationError)
            code = INVALID_REQUEST if is_json else PARSE_ERROR
            await error_response(400, code, _UNREADABLE[code])(scope, receive, send)
            return
        if not isinstance(head.method, str) or head.id is msgspec.UNSET:
            await self._app(scope, receive, send)
        elif not _is_id(head.id):  # the SDK would take it for a notification, and not answer
            await error_response(400, INVALID_REQUEST, MALFORMED_ID)(scope, receive, send)
        else:
            key = (owner, session, str(head.id))
            await self._answer(scope, receive, send, key=key, request_id=head.id)

    async def _answer(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        key: tuple[str, str, str],
        request_id: RequestId,
    ) -> None:
        if await self._is_open(key):
            error = error_response(400, INVALID_REQUEST, DUPLICATE_ID, request_id=request_id)
            await error(scope, receive, send)
            return
        ended = self._open[key] = asyncio.get_running_loop().create_future()
        ensured = EnsureResponse(send, request_id)
        try:
            await self._app(scope, receive, ensured.send)
            await ensured.end()
        finally:
            del self._open[key]
            ended.set_result(None)

    async def _is_open(self, key: tuple[str, str, str]) -> bool:
        """Whether a request with this id is open, and remains so for a moment."""
        ended = self._open.get(key)
        if ended is not None:
            await asyncio.wait((ended,), timeout=_RELEASE_TIMEOUT)
        return key in self._open


class EnsureResponse:
    """Sends what the SDK sends, and an error at the end of a stream that has no response.

    The SDK ends the streams of a session that ends, whether or not their requests are answered.

    Args:
        send: Sends to the client.
        request_id: Id of the request.
    """

    def __init__(self, send: Send, request_id: RequestId) -> None:
        self._send = send
        self._request_id = request_id
        self._is_open = False
        self._is_answered = False

    async def send(self, message: Message) -> None:
        """Send a message, and the error with the last one if no response has been sent."""
        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "")
            self._is_open = kind.startswith("text/event-stream")
        elif self._is_open:
            body = message.get("body", b"")
            self._is_answered = self._is_answered or _is_response(body)
            if not message.get("more_body", False):
                self._is_open = False
                message = {**message, "body": body + (b"" if self._is_answered else self._error())}
        await self._send(message)

    async def end(self) -> None:
        """End the stream if it is still open."""
        if self._is_open:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    def _error(self) -> bytes:
        why = Unavailable(
            "The session ended before the request was answered; the request may or may not have "
            "taken effect.",
            permanent=True,
        )
        error = protocol_error(why).error
        response = JSONRPCError(jsonrpc="2.0", id=self._request_id, error=error)
        body = response.model_dump_json(by_alias=True, exclude_unset=True)
        return f"event: message\r\ndata: {body}\r\n\r\n".encode()


def _is_id(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _is_response(event: bytes) -> bool:
    """Whether an event is the response, and not a notification or a request before it."""
    _, found, data = event.partition(b"data: ")
    if not found:
        return False
    try:
        return msgspec.json.decode(data.partition(b"\r\n")[0], type=_Head).method is None
    except msgspec.DecodeError:
        return True  # whatever it is, nothing is added to it


_UNREADABLE = {
    PARSE_ERROR: "Parse error",
    INVALID_REQUEST: "The body must be one message of JSON-RPC 2.0",
}
