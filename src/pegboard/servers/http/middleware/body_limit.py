"""ASGI middleware: the size of a request's body, and the time that it may take to arrive."""

import asyncio
import re

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pegboard.servers.http.problem_details import problem_response

_UPLOAD_TIMEOUT = 60.0
_IDLE_TIMEOUT = 30.0
"""Seconds between two pieces of a part of an upload."""
_MIN_RATE = 8 * 1024
"""Bytes a second that a part has to arrive at once the time of other bodies is over."""
_UPLOAD_PATH = re.compile(r"(?:/v1)?/uploads/[^/]+")


class BodyLimit:
    """ASGI middleware: refuses a body that is too large (413) or arrives too slowly (408).

    A part of an upload may be larger, and may take its time as long as it arrives at all.

    Args:
        app: The application behind it.
        max_bytes: Size of the largest body that is read.
        max_part_bytes: Size of the largest part of an upload; 0 for that of other bodies.
        upload_timeout: Seconds that a client has to send its body.
        idle_timeout: Seconds that a client may send nothing of a part.
    """

    def __init__(
        self,
        app: ASGIApp,
        max_bytes: int,
        *,
        max_part_bytes: int = 0,
        upload_timeout: float = _UPLOAD_TIMEOUT,
        idle_timeout: float = _IDLE_TIMEOUT,
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._max_part_bytes = max_part_bytes or max_bytes
        self._upload_timeout = upload_timeout
        self._idle_timeout = idle_timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_part = scope.get("method") == "PATCH" and bool(_UPLOAD_PATH.fullmatch(scope["path"]))
        most = self._max_part_bytes if is_part else self._max_bytes
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdecimal() and int(declared) > most:
            await problem_response(413, _detail(most), headers=_CLOSE)(scope, receive, send)
            return
        await self._app(scope, self._limit(receive, most, is_part=is_part), send)

    def _limit(self, receive: Receive, most: int, *, is_part: bool) -> Receive:
        now = asyncio.get_running_loop().time
        size, began, is_complete = 0, now(), False

        async def receiving() -> Message:
            nonlocal size, is_complete
            until = began + self._upload_timeout
            if is_part:
                until = min(now() + self._idle_timeout, until + size / _MIN_RATE)
            try:
                async with asyncio.timeout_at(None if is_complete else until):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "The body took too long.", _CLOSE) from None
            size += len(message.get("body", b""))
            if size > most:
                raise HTTPException(413, _detail(most), _CLOSE)
            if not message.get("more_body", False):
                is_complete = True  # what follows only says whether the client is still connected
            return message

        return receiving


def _detail(most: int) -> str:
    return f"The body has more than {most} bytes."


_CLOSE = {"Connection": "close"}
"""The rest of the body is not read."""
