"""A stream that would end without the answer it is there for says so: its session has ended."""

from typing import Any

import msgspec
from mcp_types import JSONRPCError, RequestId
from starlette.datastructures import Headers
from starlette.types import Message, Send

from pegboard.errors import Unavailable
from pegboard.servers.mcp.protocol_errors import protocol_error


class _Head(msgspec.Struct):
    method: Any = None


class EnsureResponse:
    """The way back to a client on which every request has an answer.

    Args:
        send: Where it leads.
        request_id: Of the request.
    """

    def __init__(self, send: Send, request_id: RequestId) -> None:
        self._send = send
        self._request_id = request_id
        self._is_open = False
        self._is_answered = False

    async def send(self, message: Message) -> None:
        """Pass a message on, and the answer with the last one where none has come."""
        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "")
            self._is_open = kind.startswith("text/event-stream")
        elif self._is_open:
            body = message.get("body", b"")
            self._is_answered = self._is_answered or _is_answer(body)
            if not message.get("more_body", False):
                self._is_open = False
                message = {**message, "body": body + (b"" if self._is_answered else self._said())}
        await self._send(message)

    async def end(self) -> None:
        """End the stream where nobody has."""
        if self._is_open:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    def _said(self) -> bytes:
        why = Unavailable(
            "The session ended before the request was answered; nobody knows what of it took "
            "effect.",
            permanent=True,
        )
        error = protocol_error(why).error
        told = JSONRPCError(jsonrpc="2.0", id=self._request_id, error=error)
        body = told.model_dump_json(by_alias=True, exclude_unset=True)
        return f"event: message\r\ndata: {body}\r\n\r\n".encode()


def _is_answer(event: bytes) -> bool:
    """Whether an event brings the answer, and not what a client is told or asked before it."""
    _, found, data = event.partition(b"data: ")
    if not found:
        return False
    try:
        return msgspec.json.decode(data.partition(b"\r\n")[0], type=_Head).method is None
    except msgspec.DecodeError:
        return True  # whatever it is, nothing is to be added to it
