"""`Relay`: keeps a client's session while the process that serves it changes."""

import asyncio
from contextlib import suppress
from typing import Protocol

from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from pegboard.servers.mcp.stdio.transport import StdioStreams
from pegboard.servers.shutdown import cancel_and_wait

CUT_OFF = (
    "The process that served the board ended before it answered; the request may or may not have "
    "taken effect."
)
DRAIN = 3.0
"""Seconds for open requests when the client is to be served by another process."""
_FAREWELL_SECONDS = 1.0
_LOOK_AGAIN = 0.02
_KEPT = frozenset(
    {"initialize", "notifications/initialized", "logging/setLevel", "resources/subscribe"}
)
_REPLAY = "pegboard-replay-"


class Peer(Protocol):
    """What serves the client now."""

    async def send(self, message: JSONRPCMessage) -> None:
        """Send it a message of the client."""
        ...

    async def receive(self) -> JSONRPCMessage | None:
        """Its next message; None when it has ended."""
        ...


class Relay:
    """Passes messages between a client and the peer that serves it.

    A new peer gets what began the session, so that the client notices nothing but an error for
    each request that the old peer has not answered.

    Args:
        streams: The streams of the client.
    """

    def __init__(self, streams: StdioStreams) -> None:
        self._streams = streams
        self._session: dict[tuple[str, str], JSONRPCRequest | JSONRPCNotification] = {}
        self._open: dict[str, RequestId] = {}
        self._replays = 0
        self._coming: asyncio.Future[SessionMessage | Exception | None] | None = None

    async def close(self) -> None:
        """Read nothing more from the client."""
        if self._coming is not None:
            self._coming.cancel()
            await asyncio.wait((self._coming,))

    async def run(self, peer: Peer, *, leaving: asyncio.Event | None = None) -> bool:
        """Pass messages until the client or the peer ends; returns whether the client did.

        Args:
            peer: Serves the client.
            leaving: Is set when the client is to be served by another peer. This one then gets no
                further message, and `DRAIN` seconds to answer those that it has.
        """
        await self._replay(peer)
        up = asyncio.create_task(self._pass_up(peer))
        down = asyncio.create_task(self._pass_down(peer))
        ended = asyncio.create_task(self._streams.ended.wait())
        left = asyncio.create_task((leaving or asyncio.Event()).wait())
        try:
            await asyncio.wait((down, ended, left), return_when=asyncio.FIRST_COMPLETED)
            if left.done() and not down.done():
                await cancel_and_wait((up,))
                await self._drain(down)
            if ended.done():
                with suppress(TimeoutError):  # it may read no more
                    async with asyncio.timeout(_FAREWELL_SECONDS):
                        await self._fail_open_requests()
                return True
            if down.done():
                down.result()
        finally:
            await cancel_and_wait((up, down, ended, left))
        await self._fail_open_requests()
        return False

    async def _drain(self, down: "asyncio.Task[None]") -> None:
        """Wait until the peer has answered what it has."""
        loop = asyncio.get_running_loop()
        end = loop.time() + DRAIN
        while self._open and not down.done() and loop.time() < end:
            await asyncio.wait((down,), timeout=_LOOK_AGAIN)

    async def _replay(self, peer: Peer) -> None:
        for message in list(self._session.values()):
            is_answered = isinstance(message, JSONRPCRequest) and str(message.id) not in self._open
            self._replays += 1
            new_id = {"id": f"{_REPLAY}{self._replays}"} if is_answered else {}
            await peer.send(message.model_copy(update=new_id))

    async def _pass_up(self, peer: Peer) -> None:
        while (item := await self._next()) is not None:
            if isinstance(item, Exception):
                continue
            message = item.message
            if isinstance(message, JSONRPCRequest):
                self._open[str(message.id)] = message.id
            if isinstance(message, (JSONRPCRequest, JSONRPCNotification)):
                self._keep(message)
                if message.method == "notifications/cancelled":  # it gets no answer any more
                    self._open.pop(str((message.params or {}).get("requestId")), None)
            await peer.send(message)

    async def _next(self) -> SessionMessage | Exception | None:
        """The client's next message; None at the end.

        When the peer ends while it is awaited, it stays awaited for the next peer.
        """
        if self._coming is None:
            self._coming = asyncio.ensure_future(anext(self._streams.incoming, None))
        await asyncio.wait((self._coming,))
        coming, self._coming = self._coming, None
        return coming.result()

    def _keep(self, message: JSONRPCRequest | JSONRPCNotification) -> None:
        """Keep what a new peer must know of the session."""
        uri = str((message.params or {}).get("uri", ""))
        if message.method in _KEPT:
            self._session[message.method, uri] = message
        elif message.method == "resources/unsubscribe":
            self._session.pop(("resources/subscribe", uri), None)

    async def _pass_down(self, peer: Peer) -> None:
        while (message := await peer.receive()) is not None:
            is_answer = isinstance(message, (JSONRPCResponse, JSONRPCError))
            if is_answer and str(message.id).startswith(_REPLAY):
                continue
            await self._streams.outgoing.send(SessionMessage(message))
            if is_answer:  # open until the client has it: `run` may end while it is being sent
                self._open.pop(str(message.id), None)

    async def _fail_open_requests(self) -> None:
        """Answer what the old peer has not answered, except what the new one is sent again."""
        kept = self._session.values()
        again = {str(item.id) for item in kept if isinstance(item, JSONRPCRequest)}
        for key in [key for key in self._open if key not in again]:
            error = ErrorData(code=CONNECTION_CLOSED, message=CUT_OFF)
            answer = JSONRPCError(jsonrpc="2.0", id=self._open.pop(key), error=error)
            await self._streams.outgoing.send(SessionMessage(answer))
