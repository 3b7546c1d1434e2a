"""Requests in progress: they end when the caller's account, key or session does."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pegboard.core.ports.authenticator import AuthenticatedCaller, Authenticator
from pegboard.core.principal import Principal
from pegboard.errors import PegboardError

_LOG = logging.getLogger("pegboard.http")
_STREAM = b"text/event-stream"
_POLICY_VIOLATION = 1008
_SOON = 0.2
"""Seconds between a change and its effect, so that the request that makes it is answered."""
_AGAIN = 1.0


class LiveRequest:
    """One request in progress.

    Attributes:
        caller: With the rights that it was last found to have.
    """

    def __init__(self, scope: Scope, send: Send, caller: AuthenticatedCaller) -> None:
        self.caller = caller
        self._scope = scope
        self._send = send
        self._task = asyncio.current_task()
        self._is_socket = scope["type"] == "websocket"
        self._is_started = False
        self._is_complete = False
        self._has_ended = False

    @property
    def is_streaming(self) -> bool:
        """Whether it may last: a WebSocket, or an event stream that has begun."""
        return self._is_socket or self._is_started

    @property
    def has_ended(self) -> bool:
        """Whether it was ended because its caller may not go on."""
        return self._has_ended

    async def send(self, message: Message) -> None:
        """Send a message, and take note of how far the answer is."""
        match message["type"]:
            case "http.response.start":
                headers = dict(message.get("headers", ()))
                self._is_started = headers.get(b"content-type", b"").startswith(_STREAM)
            case "http.response.body":
                self._is_complete = not message.get("more_body", False)
            case "websocket.close":
                self._is_complete = True
            case _:
                pass
        await self._send(message)

    def update(self, caller: AuthenticatedCaller | None) -> None:
        """Go on with the rights of now; a stream with fewer rights than before ends."""
        if caller is None:
            if self.caller.credential or self.is_streaming:
                self.end()
            return
        before, self.caller = self.caller.principal, caller
        if caller.principal == before:
            return
        if self.is_streaming and _has_lost(before, caller.principal):
            self.end()
            return
        self._scope["state"]["principal"] = caller.principal

    def end(self) -> None:
        """Cancel what answers it."""
        if self._task is not None and not self._has_ended:
            self._has_ended = True
            self._task.cancel()

    async def finish(self, refusal: ASGIApp, receive: Receive) -> None:
        """Answer a request that was ended."""
        if self._is_complete:
            return
        if self._is_socket:
            close = {"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": "sign in"}
            await self._send(close)
        elif self._is_started:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await refusal(self._scope, receive, self._send)


class LiveRequests:
    """The requests in progress of a server.

    Args:
        callers: Names their callers again whenever rights have changed.
        refusal: Answers a request whose caller may not go on.
    """

    def __init__(self, callers: Authenticator, *, refusal: ASGIApp) -> None:
        self._callers = callers
        self._refusal = refusal
        self._live: set[LiveRequest] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._looking: asyncio.Task[None] | None = None

    async def run(
        self,
        app: ASGIApp,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        caller: AuthenticatedCaller,
    ) -> None:
        """Have a request answered, unless its caller may not go on meanwhile."""
        live = LiveRequest(scope, send, caller)
        self._callers.watch(self.look_soon)
        self._live.add(live)
        end = self._plan_end(caller.expires)
        try:
            await _answer(live, lambda: app(scope, receive, live.send))
        finally:
            self._live.discard(live)
            if end is not None:
                end.cancel()
        if live.has_ended:
            await live.finish(self._refusal, receive)

    def look_soon(self) -> None:
        """Name the callers of all requests in progress again: rights may have changed."""
        self._look_after(_SOON)

    def _plan_end(self, expires: float | None) -> asyncio.TimerHandle | None:
        """Look again when a key or session expires; a browser's cookie is replaced before."""
        if expires is None:
            return None
        left = max(0.0, expires - time.time())
        return asyncio.get_running_loop().call_later(left, self.look_soon)

    def _look_after(self, seconds: float) -> None:
        if self._timer is None and self._live:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._begin)

    def _begin(self) -> None:
        self._timer = None
        self._looking = asyncio.get_running_loop().create_task(self._look())

    async def _look(self) -> None:
        found: dict[str, AuthenticatedCaller | None] = {}
        for live in tuple(self._live):
            credential = live.caller.credential
            try:
                if credential not in found:
                    found[credential] = await self._callers.identify_again(credential)
            except PegboardError as error:
                _LOG.warning("http: callers could not be named again: %s", error)
                self._look_after(_AGAIN)
                return
            live.update(found[credential])


async def _answer(live: LiveRequest, answer: Callable[[], Awaitable[None]]) -> None:
    task = asyncio.current_task()
    try:
        await answer()
    except asyncio.CancelledError:
        if not live.has_ended or task is None or task.uncancel() > 0:
            raise


def _has_lost(before: Principal, now: Principal) -> bool:
    """Whether a caller may do less than before, or acts for another organisation."""
    return not (
        before.scopes <= now.scopes
        and before.roles <= now.roles
        and before.organisations <= now.organisations
        and before.tenant == now.tenant
    )
