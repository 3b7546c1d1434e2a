"""A client that still sends when it is answered: it is heard out for a while, so that it reads why.

Whoever closes a connection on which something lies unread resets it, and a client that is writing
then loses the answer.
"""

import asyncio
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a client is heard that has its answer.

    Attributes:
        most_bytes: What is read, and thrown away.
        longest: Seconds in all.
        idle: Seconds in which nothing comes.
    """

    most_bytes: int = 64 * 1024 * 1024
    longest: float = 30.0
    idle: float = 5.0


PATIENCE = Patience()


class LingeringClose:
    """ASGI middleware: an answer that closes the connection ends when the body has, or patience.

    Args:
        app: What is behind it.
        max_bytes: Of a body; a larger one, or one that does not say how large it is, is not waited
            for without a bound, whatever its answer.
        patience: With a client that still sends.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int, patience: Patience = PATIENCE) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or not _has_body(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(
            scope, receive, send, max_bytes=self._max_bytes, patience=self._patience
        )
        await self._app(scope, exchange.receive, exchange.send)


class _Exchange:
    """One request with a body, and its answer."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, *, max_bytes: int, patience: Patience
    ) -> None:
        self._headers = Headers(scope=scope)
        self._is_last = scope["http_version"] == "1.0"  # which the server closes after each answer
        self._receive, self._send = receive, send
        self._max_bytes, self._patience = max_bytes, patience
        self._is_whole = False
        self._closes = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._is_whole = self._is_whole or not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and not self._is_whole:
            headers = MutableHeaders(scope=message)
            if not _is_bounded(self._headers, self._max_bytes):
                headers["Connection"] = "close"
            self._closes = self._is_last or _closes(headers) or _closes(self._headers)
        is_last = not message.get("more_body", False) and message["type"] == "http.response.body"
        if not is_last or not self._closes or self._is_whole:
            await self._send(message)
            return
        await self._send({**message, "more_body": True})
        await self._hear_out()
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _hear_out(self) -> None:
        heard = 0
        left = self._patience.longest
        until = asyncio.get_running_loop().time() + left
        while not self._is_whole and heard < self._patience.most_bytes and left > 0:
            try:
                async with asyncio.timeout(min(left, self._patience.idle)):
                    message = await self.receive()
            except TimeoutError:
                return
            heard += len(message.get("body", b""))
            left = until - asyncio.get_running_loop().time()


def _has_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def _is_bounded(headers: Headers, max_bytes: int) -> bool:
    declared = headers.get("content-length", "")
    is_known = declared.isdecimal() and "transfer-encoding" not in headers
    return is_known and len(declared) <= len(str(max_bytes)) and int(declared) <= max_bytes


def _closes(headers: Headers | MutableHeaders) -> bool:
    said = headers.get("connection", "").lower()
    return "close" in (token.strip() for token in said.split(","))
