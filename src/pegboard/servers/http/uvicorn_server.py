"""The uvicorn server: without signal handlers and logs, with hooks for start and shutdown."""

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

from fastapi import FastAPI
from uvicorn import Config, Server
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from pegboard.runtime import Settings
from pegboard.servers.http.http_connection import BoundedConnection, OpenConnections
from pegboard.servers.http.middleware.client_address import TrustedProxies

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

    def __init__(self, *args: Any, connections: OpenConnections, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._connections = connections
        self._heard_at = 0.0
        self.conn.debug = False

    def data_received(self, data: bytes) -> None:
        self._heard_at = self.loop.time()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.remove(self.transport)
        super().connection_lost(exc)

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close":
            self.writable.set()  # send the close code even if the buffer is full
            self._abort_soon()
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body"):
            self.handshake_complete = True  # else uvicorn logs each refusal as an error of ours

    def keepalive_timeout(self) -> None:
        if self.read_paused or self._heard_at >= self.ping_sent_at:
            # the client lives, and its pong follows messages that the server has yet to read
            self.ping_sent_at = self.loop.time()
            due = self.ping_timeout or PING
            self.pong_timer = self.loop.call_later(due, self.keepalive_timeout)
            return
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
    settings: Settings,
    ping: float = PING,
) -> Server:
    """Create the server of one process.

    Args:
        app: The application; its board is open.
        grace: Seconds that running requests have at shutdown before they are cancelled.
        started: Called once connections are accepted.
        ending: Ends long-lived streams while running requests finish.
        settings: The bounds of connections and messages.
        ping: Seconds between two pings of a WebSocket, and until a pong is due.
    """
    connections = OpenConnections(
        most=min(settings.max_connections, _free_descriptors()),
        most_per_address=settings.max_connections_per_address,
        proxies=TrustedProxies(settings.trusted_proxies),
    )
    http = partial(BoundedConnection, limits=connections, header_timeout=settings.header_timeout)
    config = Config(
        app,
        loop="asyncio",
        http=cast("Any", http),
        ws=cast("Any", partial(_Socket, connections=connections)),
        ws_max_size=settings.max_request_bytes,
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


def _free_descriptors() -> int:
    """Descriptors that connections may take; the rest is for files and upstreams."""
    try:
        import resource
    except ImportError:  # on Windows, which has no such limit
        return sys.maxsize
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if most == resource.RLIM_INFINITY else max(most // 2, most - 500)
