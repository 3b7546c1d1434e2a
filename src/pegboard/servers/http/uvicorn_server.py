"""The uvicorn server: without signal handlers and logs, with hooks for start and shutdown."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI
from uvicorn import Config, Server
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

PING = 20.0
"""Seconds between two pings of a WebSocket, and until a pong is due."""

_CLOSE_TIMEOUT = 2.0
"""Seconds that a client has to read the last message of a WebSocket."""


class _QuietServer(Server):
    def __init__(
        self, config: Config, started: Callable[[], None], ending: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(config)
        self._on_started = started
        self._on_ending = ending

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to `serve`: uvicorn would re-raise them and kill the process."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        ending = asyncio.ensure_future(self._on_ending())
        await super().shutdown(sockets)
        await ending


class _Socket(WebSocketsSansIOProtocol):
    """A WebSocket that closes without waiting for a client that does not read.

    It never logs a handshake, not even for debugging: the URL and headers contain secrets.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn.debug = False

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close":
            self.writable.set()  # send the close code even if the buffer is full
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
    """Create the server of one process.

    Args:
        app: The application; its board is open.
        grace: Seconds that running requests have at shutdown before they are cancelled.
        started: Called once connections are accepted.
        ending: Ends long-lived streams while running requests finish.
        max_message: Maximum size of a WebSocket message in bytes.
        ping: Seconds between two pings of a WebSocket, and until a pong is due.
    """
    config = Config(
        app,
        loop="asyncio",
        http="h11",
        ws=_Socket,
        ws_max_size=max_message,
        ws_ping_interval=ping,
        ws_ping_timeout=ping,
        ws_per_message_deflate=False,  # a small compressed message could expand to a large one
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=grace,
    )
    return _QuietServer(config, started, ending)
