"""uvicorn as we run it: no signal handlers, no log of its own, told when it listens and ends."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

from fastapi import FastAPI
from uvicorn import Config, Server


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


def quiet_server(
    app: FastAPI,
    *,
    grace: int,
    started: Callable[[], None],
    ending: Callable[[], Awaitable[None]],
) -> Server:
    """A server for one process.

    Args:
        app: What it serves; its board is open.
        grace: Seconds that running requests have at the end, before they are cancelled.
        started: Told once connections are accepted.
        ending: Ends what would stay open for ever, while running requests have their time.
    """
    config = Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=grace,
    )
    return _QuietServer(config, started, ending)
