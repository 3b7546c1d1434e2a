"""The HTTP server: `create_app` makes the application of a board, `serve` runs it as a process."""

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from pegboard.runtime import Pegboard, Settings
from pegboard.runtime.wiring.storage import write_address
from pegboard.servers.extras import require_server_extra
from pegboard.servers.http.bind_address import address_error, bind_socket, url_of
from pegboard.servers.shutdown import cancel_and_wait, exit_process

if TYPE_CHECKING:
    from fastapi import FastAPI
    from uvicorn import Server

    from pegboard.servers.http.mcp_endpoint import McpEndpoint

GRACE = 10
"""Seconds that running calls have to finish at shutdown."""

Ready = Callable[[str], None]


def create_app(board: Pegboard) -> "FastAPI":
    """Create the ASGI application of a board.

    ```python
    app = create_app(Pegboard("board.yaml", metrics=True))  # uvicorn module:app
    ```

    Args:
        board: An open board, or one that the application's lifespan opens and closes.

    Raises:
        ConfigError: The `server` extra is missing, or the token is empty.
    """
    require_server_extra()
    from pegboard.servers.http.app_factory import build_app

    return build_app(board)


def serve(settings: Settings, *, ready: Ready | None = None) -> None:
    """Serve a board over HTTP until SIGINT or SIGTERM.

    Args:
        settings: The board, and the address to listen on.
        ready: Called with the URL once the server listens; None prints a line.

    Raises:
        ConfigError: A setting or the board is invalid, the address is in use, or an extra is
            missing.
    """
    require_server_extra()
    asyncio.run(_to_the_end(settings, ready or _printer(settings)))


async def run(settings: Settings, *, ready: Ready, grace: int = GRACE) -> None:
    """Serve in a running event loop; raises the same errors as `serve`."""
    with closing(bind_socket(settings)) as listening, _ending() as ending:
        try:
            async with Pegboard(settings=settings, metrics=True) as board:
                await board.runs.follow()
                if settings.reload != "off":
                    board.watch()
                await _serve(board, listening, ready=ready, grace=grace, ending=ending)
        except asyncio.CancelledError:
            if not ending.requested:
                raise


async def _to_the_end(settings: Settings, ready: Ready) -> None:
    await run(settings, ready=ready)
    await exit_process()


class _Shutdown:
    """A requested shutdown: immediate while the board opens, graceful while it serves."""

    def __init__(self, task: "asyncio.Task[Any] | None") -> None:
        self._task = task
        self.requested = False
        self.server: Server | None = None

    def request(self) -> None:
        again, self.requested = self.requested, True
        if self.server is not None:
            self.server.should_exit = True
            self.server.force_exit = again
        elif self._task is not None and not again:
            self._task.cancel()


@contextmanager
def _ending() -> Generator[_Shutdown]:
    """Let signals shut the server down; only the main thread receives them."""
    ending = _Shutdown(asyncio.current_task())
    loop = asyncio.get_running_loop()
    is_main = threading.current_thread() is threading.main_thread()
    signals = (signal.SIGINT, signal.SIGTERM) if is_main else ()
    for number in signals:
        loop.add_signal_handler(number, ending.request)
    try:
        yield ending
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


async def _serve(
    board: Pegboard, listening: socket.socket, *, ready: Ready, grace: int, ending: _Shutdown
) -> None:
    from pegboard.servers.http.uvicorn_server import quiet_server

    app = create_app(board)
    mcp: McpEndpoint = app.state.mcp

    def started() -> None:
        url = url_of(listening)
        write_address(board.settings, url)
        ready(url)

    server = quiet_server(
        app,
        grace=grace,
        started=started,
        ending=lambda: mcp.close(grace=grace * 0.8),
        max_message=board.settings.max_request_bytes,
    )
    ending.server = server
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        await asyncio.shield(serving)
    except OSError as error:
        raise address_error(board.settings, error) from error
    except asyncio.CancelledError:
        server.should_exit = True
        await serving
        raise
    finally:
        await mcp.close(grace=0)
        await cancel_and_wait(server.server_state.tasks)


def _printer(settings: Settings) -> Ready:
    """Print the URL; to stderr if the log goes to stdout."""

    def say(url: str) -> None:
        stream = sys.stderr if settings.log == "stdout" else sys.stdout
        stream.write(f"Pegboard listens on {url}\n")
        stream.flush()

    return say
