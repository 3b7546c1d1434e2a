"""The HTTP server: `create_app` makes the application of a board, `serve` runs it as a process."""

import asyncio
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    closing,
    contextmanager,
    nullcontext,
)
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pegboard.errors import ConfigError
from pegboard.runtime import Pegboard, Settings
from pegboard.runtime.holder import (
    announce_holder,
    board_path,
    explain_held,
    find_holder,
    is_held,
)
from pegboard.servers.extras import has_mcp_extra, has_server_extra, require_server_extra
from pegboard.servers.http.bind_address import address_error, bind_socket, local_url, url_of
from pegboard.servers.http.start_report import report_start
from pegboard.servers.shutdown import cancel_and_wait, exit_process

if TYPE_CHECKING:
    from fastapi import FastAPI
    from uvicorn import Server

    from pegboard.servers.http.mcp_endpoint import McpEndpoint

GRACE = 10
"""Seconds that running calls have to finish at shutdown."""

PATIENCE = 15.0
"""Seconds to wait for the process that holds the data directory to give it up."""

_LOOK_AGAIN = 0.05

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
            async with _open_board(settings) as board:
                board.credentials.connections.serve()
                await board.resume_interrupted()
                if settings.reload != "off":
                    board.watch()
                await _serve(board, listening, ready=ready, grace=grace, ending=ending)
        except asyncio.CancelledError:
            if not ending.requested:
                raise


@asynccontextmanager
async def _open_board(settings: Settings) -> AsyncGenerator[Pegboard]:
    """Open the board; a process of `pegboard mcp` makes way, and a command is waited for.

    Raises:
        ConfigError: A setting or the board is invalid; or another process has the data directory.
    """
    loop = asyncio.get_running_loop()
    end, asked = loop.time() + PATIENCE, set[str]()
    while True:
        try:
            board = await Pegboard(settings=settings, metrics=True).__aenter__()
            break
        except ConfigError as error:
            if not is_held(error):
                raise
            if loop.time() > end or not await _ends_soon(settings, asked):
                raise explain_held(settings, error) from error
        await asyncio.sleep(_LOOK_AGAIN)
    try:
        yield board
    finally:
        await board.close()


async def _ends_soon(settings: Settings, asked: set[str]) -> bool:
    """Whether the process that has the data directory may give it up; asks an MCP process to.

    Args:
        settings: Of this server.
        asked: The tokens of the holders that were asked before; one that has made way and has the
            directory again has another token, and is asked again.

    Raises:
        ConfigError: It refuses; says why.
    """
    process, holder = find_holder(settings)
    if process == os.getpid():
        return False
    if holder is None or holder.command != "pegboard mcp" or not holder.mcp:
        return holder is None or not holder.url
    if holder.token in asked:
        return True
    from pegboard.servers.mcp.stdio.join import ask_to_make_way

    asked.add(holder.token)
    refusal = await ask_to_make_way(holder, board_path(settings))
    if refusal:
        held = explain_held(settings, ConfigError("")).message
        raise ConfigError(f"{held} {refusal}")
    return True


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
    from pegboard.servers.http.app_factory import build_app

    token = secrets.token_urlsafe(32)
    app = build_app(board, start_token=token)
    async with _listen_for_joined(board, token, grace=grace) as joined:

        def started() -> None:
            announce_holder(
                board.settings,
                token=token,
                url=local_url(listening),
                mcp=joined,
                command="pegboard serve",
            )
            ready(url_of(listening))
            report_start(board, url_of(listening))

        await _run(app, listening, started=started, grace=grace, ending=ending)


def _listen_for_joined(
    board: Pegboard, token: str, *, grace: float
) -> AbstractAsyncContextManager[str]:
    """Serve MCP to processes that join; not without a data directory or the MCP SDK."""
    from pegboard.servers.mcp.stdio.join import listen_for_joined
    from pegboard.servers.mcp.stdio.serve import converse

    if board.settings.data is None or board.settings.database is not None or not has_mcp_extra():
        return nullcontext("")
    return listen_for_joined(board, token, converse, grace=grace)


@asynccontextmanager
async def serve_commands(board: Pegboard, token: str) -> AsyncGenerator[str]:
    """Serve the HTTP API on loopback to commands of this user, beside another door.

    The web framework is loaded with the first connection.

    Args:
        board: An open board.
        token: What they must send.

    Yields:
        The address; empty without the `server` extra.
    """
    if not has_server_extra():
        yield ""
        return
    ending = _Shutdown(None)
    with closing(bind_socket(Settings(port=0))) as listening:
        listening.listen()
        serving = asyncio.create_task(_serve_when_needed(board, listening, token, ending))
        try:
            yield url_of(listening)
        finally:
            ending.request()
            if ending.server is None:
                serving.cancel()
            await asyncio.wait((serving,))


async def _serve_when_needed(
    board: Pegboard, listening: socket.socket, token: str, ending: "_Shutdown"
) -> None:
    loop, connected = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(listening, connected.set)
    try:
        await connected.wait()
    finally:
        loop.remove_reader(listening)
    await asyncio.to_thread(import_module, "pegboard.servers.http.app_factory")
    from pegboard.servers.http.app_factory import build_app

    app = build_app(board, start_token=token, is_private=True)
    await _run(app, listening, started=lambda: None, grace=1, ending=ending)


async def _run(
    app: "FastAPI",
    listening: socket.socket,
    *,
    started: Callable[[], None],
    grace: int,
    ending: _Shutdown,
) -> None:
    from pegboard.servers.http.uvicorn_server import quiet_server

    board: Pegboard = app.state.board
    mcp: McpEndpoint = app.state.mcp

    async def end_streams() -> None:
        app.state.ending.set()  # those who follow go on at the next server
        await mcp.close(grace=grace * 0.8)

    server = quiet_server(
        app,
        grace=grace,
        started=started,
        ending=end_streams,
        settings=board.settings,
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
