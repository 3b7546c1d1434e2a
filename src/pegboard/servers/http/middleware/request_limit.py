"""ASGI middleware: how many requests the server works on at once."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pegboard.errors import Overloaded
from pegboard.servers.http.middleware.authentication import OPEN_PATHS
from pegboard.servers.http.problem_details import error_response

_STREAM = b"text/event-stream"


class RequestLimit:
    """ASGI middleware: refuses requests at once (503, `Retry-After`) when too many are in progress.

    A waiting request would wait longer than its client, and hold memory meanwhile. Probes and event
    streams do not count.

    Args:
        app: The application behind it.
        most: Requests in progress.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most
        self._count = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        if self._count >= self._most:
            error = Overloaded(
                f"The server works on {self._most} requests already (PEGBOARD_MAX_REQUESTS).",
                retry_after=1.0,
                nothing_done=True,
            )
            await error_response(error)(scope, receive, send)
            return
        self._count += 1
        is_counted = True

        async def release_streams(message: Message) -> None:
            nonlocal is_counted
            if is_counted and message["type"] == "http.response.start":
                headers = dict(message.get("headers", ()))
                if headers.get(b"content-type", b"").startswith(_STREAM):
                    is_counted = False
                    self._count -= 1
            await send(message)

        try:
            await self._app(scope, receive, release_streams)
        finally:
            if is_counted:
                self._count -= 1
