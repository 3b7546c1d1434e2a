"""uvicorn as we run it: no signal handlers, no log of its own, told when it listens and ends."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI
from uvicorn import Config, Server
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

PING = 20.0
"""Seconds between two signs of life that a WebSocket is asked for, and for each answer."""

_CLOSE_TIMEOUT = 2.0
"""Seconds in which the last message of a WebSocket may be read."""


class _QuietServer(Server):
    def __init__(
        self, config: Config, started: Callable[[], None], ending: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(config)
        self._on_started = started
        self._on_ending = ending

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to `serve`: uvicorn would end the process by the signal it got."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        ending = asyncio.ensure_future(self._on_ending())
        await super().shutdown(sockets)
        await ending


class _Socket(WebSocketsSansIOProtocol):
    """A WebSocket whose end does not wait for a client that reads nothing.

    It logs no handshake, be it for debugging: the address and the headers hold secrets.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn.debug = False

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close":
            self.writable.set()  # the code is said even where a full buffer stands before it
            self._abort_soon()
        await super().send(message)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._abort_soon()

    def shutdown(self) -> None:
        super().shutdown()
        self._abort_soon()

    def _abort_soon(self) -> None:
        self.loop.call_later(_CLOSE_TIMEOUT, self.transport.abort)


def quiet_server(
    app: FastAPI,
    *,
    grace: int,
    started: Callable[[], None],
    ending: Callable[[], Awaitable[None]],
    max_message: int,
    ping: float = PING,
) -> Server:
    """A server for one process.

    Args:
        app: What it serves; its board is open.
        grace: Seconds that running requests have at the end, before they are cancelled.
        started: Told once connections are accepted.
        ending: Ends what would stay open for ever, while running requests have their time.
        max_message: Bytes of a WebSocket's message.
        ping: Seconds between two signs of life that a WebSocket is asked for, and for each answer.
    """
    config = Config(
        app,
        loop="asyncio",
        http="h11",
        ws=_Socket,
        ws_max_size=max_message,
        ws_ping_interval=ping,
        ws_ping_timeout=ping,
        ws_per_message_deflate=False,  # a small message could be a large one
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=grace,
    )
    return _QuietServer(config, started, ending)
