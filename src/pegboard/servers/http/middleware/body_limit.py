"""ASGI middleware: the size of a request's body, and the time that it may take to arrive."""

import asyncio

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pegboard.servers.http.problem_details import problem_response

_UPLOAD_TIMEOUT = 60.0


class BodyLimit:
    """ASGI middleware: refuses a body that is too large (413) or arrives too slowly (408).

    Args:
        app: The application behind it.
        max_bytes: Size of the largest body that is read.
        upload_timeout: Seconds that a client has to send its body.
    """

    def __init__(
        self, app: ASGIApp, max_bytes: int, *, upload_timeout: float = _UPLOAD_TIMEOUT
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._upload_timeout = upload_timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdecimal() and int(declared) > self._max_bytes:
            await self._too_large()(scope, receive, send)
            return
        await self._app(scope, self._limit(receive), send)

    def _limit(self, receive: Receive) -> Receive:
        size = 0
        until: float | None = asyncio.get_running_loop().time() + self._upload_timeout

        async def receiving() -> Message:
            nonlocal size, until
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "The body took too long.", _CLOSE) from None
            size += len(message.get("body", b""))
            if size > self._max_bytes:
                raise HTTPException(413, self._detail(), _CLOSE)
            if not message.get("more_body", False):
                until = None  # further messages only say whether the client is still connected
            return message

        return receiving

    def _too_large(self) -> ASGIApp:
        return problem_response(413, self._detail(), headers=_CLOSE)

    def _detail(self) -> str:
        return f"The body has more than {self._max_bytes} bytes."


_CLOSE = {"Connection": "close"}
"""The rest of the body is not read."""
