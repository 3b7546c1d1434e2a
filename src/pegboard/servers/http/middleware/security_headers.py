"""What holds for every request: bounds on its body, headers of its answer, no error left over."""

import asyncio

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pegboard.servers.http.problem_details import internal_problem, problem, problem_of
from pegboard.servers.shutdown import cut_short, not_begun

_LONGEST_UPLOAD = 60.0
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class SecurityHeaders:
    """The outermost ASGI middleware: security headers, and a 500 that tells nothing."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False
        heard = _Heard(scope, receive)

        async def sending(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._app(scope, heard.receive, sending)
        except asyncio.CancelledError:  # the server ends, and the time of its requests is over
            if not started:
                why = cut_short() if heard.may_be_begun else not_begun()
                await problem_of(why)(scope, receive, sending)
            raise
        except Exception as error:  # noqa: BLE001 - the door's last resort: logged, and told by its id
            answer = internal_problem(error, during=f"{scope['method']} {scope['path']}")
            if not started:
                await answer(scope, receive, sending)


class _Heard:
    """How much of a request has been heard: none whose body is read is begun before it is whole."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self._is_safe = scope["method"] in _SAFE
        self._is_asked = self._is_whole = False

    @property
    def may_be_begun(self) -> bool:
        """Whether it may have had an effect."""
        return not self._is_safe and (self._is_whole or not self._is_asked)

    async def receive(self) -> Message:
        self._is_asked = True
        message = await self._receive()
        self._is_whole = self._is_whole or not message.get("more_body", False)
        return message


class BodyLimit:
    """ASGI middleware: a body has a size and a time."""

    def __init__(
        self, app: ASGIApp, max_bytes: int, *, longest_upload: float = _LONGEST_UPLOAD
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._longest_upload = longest_upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count what comes in."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdecimal() and int(declared) > self._max_bytes:
            await self._too_large()(scope, receive, send)
            return
        await self._app(scope, self._counted(receive), send)

    def _counted(self, receive: Receive) -> Receive:
        size = 0
        until: float | None = asyncio.get_running_loop().time() + self._longest_upload

        async def receiving() -> Message:
            nonlocal size, until
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "The body took too long.", _CLOSE) from None
            size += len(message.get("body", b""))
            if size > self._max_bytes:
                raise HTTPException(413, self._said(), _CLOSE)
            if not message.get("more_body", False):
                until = None  # what comes next is only whether the client is still there
            return message

        return receiving

    def _too_large(self) -> ASGIApp:
        return problem(413, self._said(), headers=_CLOSE)

    def _said(self) -> str:
        return f"The body has more than {self._max_bytes} bytes."


_CLOSE = {"Connection": "close"}
"""The rest of a body that nobody wants is not waited for."""
