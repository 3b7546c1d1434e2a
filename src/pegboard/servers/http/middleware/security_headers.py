"""ASGI middleware: security headers, and the answer to an error that nothing else handled."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pegboard.servers.http.problem_details import error_response, internal_error_response
from pegboard.servers.shutdown import cut_off_error, not_started_error

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class SecurityHeaders:
    """The outermost ASGI middleware: adds security headers, and turns errors into answers.

    An unexpected error becomes a 500 that shows an error id alone. A request that is cancelled
    because the server shuts down becomes a 503.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False
        progress = _RequestProgress(scope, receive)

        async def sending(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = list(message.get("headers", ()))
                present = {name for name, _ in headers}  # in lower case, by ASGI
                headers += [item for item in _HEADERS if item[0] not in present]
                message["headers"] = headers
            await send(message)

        try:
            await self._app(scope, progress.receive, sending)
        except asyncio.CancelledError:  # the server shuts down and the grace period is over
            if not started:
                why = cut_off_error() if progress.may_be_begun else not_started_error()
                await error_response(why)(scope, receive, sending)
            raise
        except Exception as error:  # noqa: BLE001 - the last resort: logged, answered with its id
            answer = internal_error_response(error, during=f"{scope['method']} {scope['path']}")
            if not started:
                await answer(scope, receive, sending)


class _RequestProgress:
    """How much of a request has arrived: a route that reads a body starts once it is complete."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self._is_safe = scope["method"] in _SAFE
        self._is_asked = self._is_whole = False

    @property
    def may_be_begun(self) -> bool:
        """Whether the request may have had an effect."""
        return not self._is_safe and (self._is_whole or not self._is_asked)

    async def receive(self) -> Message:
        self._is_asked = True
        message = await self._receive()
        self._is_whole = self._is_whole or not message.get("more_body", False)
        return message
