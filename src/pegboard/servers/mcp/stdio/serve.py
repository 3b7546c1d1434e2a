"""`serve_stdio`: serves a board to the client that started this process."""

import asyncio
import os
import secrets
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    nullcontext,
)
from functools import partial
from typing import TYPE_CHECKING

from pegboard import __version__
from pegboard.core.principal import LOCAL
from pegboard.errors import ConfigError, InvalidRequest
from pegboard.runtime import Pegboard, Settings
from pegboard.runtime.holder import (
    Holder,
    announce_holder,
    board_path,
    check_same_board,
    explain_held,
    find_holder,
    is_held,
    settings_digest,
)
from pegboard.servers.extras import require_mcp_extra
from pegboard.servers.mcp.selection import WHOLE_BOARD, BoardSelection, check_globs, check_selection
from pegboard.servers.mcp.stdio.join import NO_BOARD
from pegboard.servers.shutdown import CANCEL_TIMEOUT, cancel_and_wait, exit_process

if TYPE_CHECKING:
    from pegboard.servers.mcp.server import BoardServer
    from pegboard.servers.mcp.stdio.join import HolderConnection, MakeWay
    from pegboard.servers.mcp.stdio.relay import Relay
    from pegboard.servers.mcp.stdio.transport import StdioStreams

GRACE = 8.0
"""Seconds that running requests have to finish once the client has closed stdin."""

PATIENCE = 30.0
"""Seconds to wait for the process that holds the data directory to serve others, or to end."""

_FOR_SERVER, _FOR_OTHERS = 2.0, 0.5
"""Seconds that the data directory is left free for a server: where its holder has made way for one,
and where the holder has ended."""

_LOOK_AGAIN = 0.05

Http = Callable[[Pegboard, str], AbstractAsyncContextManager[str]]
"""Serves a board over HTTP to commands that send a token; yields the address, empty for none."""


def serve_stdio(
    settings: Settings, *, selection: BoardSelection = WHOLE_BOARD, http: Http | None = None
) -> None:
    """Serve a board over stdin and stdout until the client closes stdin, or SIGINT or SIGTERM.

    When stdin is closed, running requests have `GRACE` seconds to finish. A signal cancels them.
    Where another process holds the data directory, that process serves the client; when it ends,
    this one opens the board itself.

    Args:
        settings: Settings of the board.
        selection: Which of its tools, resources and prompts are served.
        http: Serves the board to commands beside this process; None for none.

    Raises:
        ConfigError: A setting or the board is invalid, or an extra is missing; or the data
            directory is held by a process that does not serve others.
    """
    require_mcp_extra()
    if settings.log == "stdout":
        raise ConfigError(
            "PEGBOARD_LOG is stdout, which carries the protocol here: set it to stderr or a file"
        )
    from pegboard.servers.mcp.stdio.transport import claim_stdio

    reading, writing = claim_stdio()
    asyncio.run(_run_to_the_end(_Process(settings, selection, http), reading, writing))


async def _run_to_the_end(process: "_Process", reading: int, writing: int) -> None:
    serving = asyncio.create_task(process.serve(reading, writing))
    if threading.current_thread() is threading.main_thread():
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, serving.cancel)
    await asyncio.wait((serving,))
    if not serving.cancelled():
        serving.result()
    await exit_process()


class _Process:
    """Serves one client: from a board of its own, or from that of the process that has the data."""

    def __init__(self, settings: Settings, selection: BoardSelection, http: Http | None) -> None:
        self._settings = settings
        self._selection = selection
        self._http = http
        self._was_joined_to: Holder | None = None
        self._was_joined_to_process = 0

    async def serve(self, reading: int, writing: int) -> None:
        """Serve until the client ends."""
        from pegboard.servers.mcp.stdio.relay import Relay
        from pegboard.servers.mcp.stdio.transport import open_streams

        board = await self._open_or_join()
        if isinstance(board, Pegboard):
            await self._check_selection(board)
        max_bytes = self._settings.max_request_bytes
        async with open_streams(reading, writing, max_bytes=max_bytes, grace=GRACE) as streams:
            relay = Relay(streams)
            try:
                failure = await self._relay_to_the_end(board, relay)
            finally:
                await relay.close()
        if failure is not None:
            raise failure

    async def _relay_to_the_end(
        self, board: "Pegboard | HolderConnection", relay: "Relay"
    ) -> ConfigError | None:
        """Serve from the own board, or that of another process, whichever has the data directory.

        Returns:
            Why the client can no longer be served; None once it has ended.
        """
        while True:
            if isinstance(board, Pegboard):
                has_ended = await self._hold(board, relay)
            else:
                has_ended = await self._relay_to(board, relay)
            if has_ended:
                return None
            try:
                board = await self._find_next(was_own=isinstance(board, Pegboard))
            except ConfigError as error:
                return error

    async def _find_next(self, *, was_own: bool) -> "Pegboard | HolderConnection":
        """What serves the client after the board before.

        Raises:
            ConfigError: Nothing can; says why.
        """
        if not was_own:
            self._check_can_take_over()
        made_way = was_own or _is_running(self._was_joined_to_process)
        await self._let_server_begin(_FOR_SERVER if made_way else _FOR_OTHERS)
        board = await self._open_or_join()
        if isinstance(board, Pegboard):
            sys.stderr.write(
                "pegboard: that process has ended; this one holds the data directory\n"
            )
        return board

    async def _let_server_begin(self, seconds: float) -> None:
        """Let a server that starts take the data directory first, if one does."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while True:
            process, _ = find_holder(self._settings)
            if process or loop.time() > end:
                return
            await asyncio.sleep(_LOOK_AGAIN)

    async def _check_selection(self, board: Pegboard) -> None:
        """Check what is to be served; closes the board if that is wrong.

        Raises:
            ConfigError: It is.
        """
        try:
            check_selection(self._selection, board, principal=LOCAL)
            _warn(check_globs(self._selection, board))
        except InvalidRequest as error:
            await board.close()
            raise ConfigError(error.message) from error

    async def _open_or_join(self) -> "Pegboard | HolderConnection":
        """Open the board, or connect to the process that holds its data directory.

        Raises:
            ConfigError: Neither can be done; says why.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        while True:
            try:
                return await Pegboard(settings=self._settings).__aenter__()
            except ConfigError as error:
                if not is_held(error):
                    raise
                connection = await self._join(error)
                if connection is not None:
                    return connection
                if loop.time() > end:
                    raise explain_held(self._settings, error) from error
            await asyncio.sleep(_LOOK_AGAIN)

    async def _join(self, error: ConfigError) -> "HolderConnection | None":
        from pegboard.servers.mcp.stdio.join import join_holder

        process, holder = find_holder(self._settings)
        if holder is None or not holder.mcp:
            return None
        check_same_board(self._settings, holder, error)
        connection = await join_holder(holder, self._selection, key=key_of(self._settings))
        if connection is None:
            return None
        self._was_joined_to, self._was_joined_to_process = holder, process
        _warn(connection.warnings)
        sys.stderr.write(f"pegboard: joined process {process}, which holds the data directory\n")
        return connection

    def _check_can_take_over(self) -> None:
        """Refuse to continue a session with other settings than it began with."""
        last = self._was_joined_to
        mine = settings_digest(self._settings)
        if last is not None and (last.settings, last.version) != (mine, __version__):
            raise ConfigError(
                "The process that served the board has ended, and this one has other settings or "
                "another version: start it again."
            )

    async def _relay_to(self, connection: "HolderConnection", relay: "Relay") -> bool:
        from pegboard.servers.mcp.stdio.peers import HolderPeer

        try:
            return await relay.run(HolderPeer(connection))
        finally:
            connection.out.close()

    async def _hold(self, board: Pegboard, relay: "Relay") -> bool:
        """Serve the client, and others; returns whether the client has ended.

        If it has not, this process has made way for a server.
        """
        from pegboard.servers.mcp.stdio.peers import open_board_peer

        leaving = asyncio.Event()
        if self._settings.reload != "off":
            board.watch()
        async with (
            _closing(board),
            answer_others(board, self._http, make_way=partial(self._make_way, leaving)),
            open_board_peer(
                partial(converse, board, self._selection, key_of(self._settings))
            ) as peer,
        ):
            has_ended = await relay.run(peer, leaving=leaving)
        return has_ended or not leaving.is_set()

    def _make_way(self, leaving: asyncio.Event, board: str) -> str:
        mine = board_path(self._settings) or NO_BOARD
        if board != mine:
            return f"It serves the board {mine}, not {board}."
        sys.stderr.write(
            "pegboard: a server takes over the data directory; this process joins it\n"
        )
        leaving.set()
        return ""


def _is_running(process: int) -> bool:
    """Whether a process that held the data directory goes on: it has then made way for a server."""
    if not process:
        return False
    try:
        os.kill(process, 0)
    except OSError:  # it has ended, or its id is now that of another user's process
        return False
    return True


@asynccontextmanager
async def _closing(board: Pegboard) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await board.close()


@asynccontextmanager
async def answer_others(
    board: Pegboard, http: Http | None = None, *, make_way: "MakeWay | None" = None
) -> AsyncGenerator[None]:
    """Answer processes of this user that need the data directory of an open board.

    Args:
        board: The board; nothing happens if it has no data directory for itself.
        http: Serves it to commands.
        make_way: Gives the directory up to a server that starts.
    """
    from pegboard.servers.mcp.stdio.join import listen_for_joined

    settings = board.settings
    if settings.data is None or settings.database is not None:
        yield
        return
    token = secrets.token_urlsafe(32)
    async with (
        listen_for_joined(board, token, converse, grace=GRACE, make_way=make_way) as address,
        http(board, token) if http is not None else nullcontext("") as url,
    ):
        announce_holder(settings, url=url, mcp=address, token=token, command="pegboard mcp")
        yield


async def converse(
    board: Pegboard, selection: BoardSelection, key: str, streams: "StdioStreams"
) -> None:
    """Serve a board to one client until the client ends.

    Args:
        board: An open board.
        selection: What is served.
        key: The key of the client's caller, for a board with accounts; empty for none.
        streams: The messages of the client.
    """
    from pegboard.servers.mcp.server import BoardServer

    server = BoardServer(board, selection=selection, key=key)
    try:
        await _run_session(server, streams)
    finally:
        await server.close()


def key_of(settings: Settings) -> str:
    """The key that this process was started with; empty for none."""
    return "" if settings.token is None else settings.token.get_secret_value()


async def _run_session(server: "BoardServer", streams: "StdioStreams") -> None:
    """Run until the client closes its end; calls that ignore their cancellation are left."""
    options = server.sdk.create_initialization_options()
    running = asyncio.create_task(server.sdk.run(streams.incoming, streams.outgoing, options))
    ended = asyncio.create_task(streams.ended.wait())
    try:
        await asyncio.wait((running, ended), return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait((running,), timeout=CANCEL_TIMEOUT)
        if running.done():
            running.result()
    finally:
        ended.cancel()
        await cancel_and_wait((running,))


def _warn(warnings: Sequence[str]) -> None:
    for warning in warnings:
        sys.stderr.write(f"pegboard: {warning}\n")
