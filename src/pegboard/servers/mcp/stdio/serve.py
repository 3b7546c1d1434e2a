"""`serve_stdio`: serves a board to the client that started this process."""

import asyncio
import signal
import sys
import threading
from typing import TYPE_CHECKING

from pegboard.errors import ConfigError, InvalidRequest
from pegboard.runtime import Pegboard, Settings
from pegboard.servers.extras import require_mcp_extra
from pegboard.servers.mcp.selection import WHOLE_BOARD, BoardSelection, check_globs, check_selection
from pegboard.servers.shutdown import CANCEL_TIMEOUT, cancel_and_wait, exit_process

if TYPE_CHECKING:
    from pegboard.servers.mcp.server import BoardServer
    from pegboard.servers.mcp.stdio.transport import StdioStreams

GRACE = 8.0
"""Seconds that running requests have to finish once the client has closed stdin."""


def serve_stdio(settings: Settings, *, selection: BoardSelection = WHOLE_BOARD) -> None:
    """Serve a board over stdin and stdout until the client closes stdin, or SIGINT or SIGTERM.

    When stdin is closed, running requests have `GRACE` seconds to finish. A signal cancels them.

    Args:
        settings: Settings of the board.
        selection: Which of its tools, resources and prompts are served.

    Raises:
        ConfigError: A setting or the board is invalid, or an extra is missing.
    """
    require_mcp_extra()
    if settings.log == "stdout":
        raise ConfigError(
            "PEGBOARD_LOG is stdout, which carries the protocol here: set it to stderr or a file"
        )
    from pegboard.servers.mcp.stdio.transport import claim_stdio

    reading, writing = claim_stdio()
    asyncio.run(_run_to_the_end(settings, selection, reading, writing))


async def _run_to_the_end(
    settings: Settings, selection: BoardSelection, reading: int, writing: int
) -> None:
    serving = asyncio.create_task(_serve(settings, selection, reading, writing))
    if threading.current_thread() is threading.main_thread():
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, serving.cancel)
    await asyncio.wait((serving,))
    if not serving.cancelled():
        serving.result()
    await exit_process()


async def _serve(settings: Settings, selection: BoardSelection, reading: int, writing: int) -> None:
    from pegboard.servers.mcp.server import BoardServer
    from pegboard.servers.mcp.stdio.transport import open_streams

    async with Pegboard(settings=settings) as board:
        try:
            check_selection(selection, board)
            for warning in check_globs(selection, board):
                sys.stderr.write(f"pegboard: {warning}\n")
        except InvalidRequest as error:
            raise ConfigError(error.message) from error
        if settings.reload != "off":
            board.watch()
        server = BoardServer(board, selection=selection)
        try:
            max_bytes = settings.max_request_bytes
            async with open_streams(reading, writing, max_bytes=max_bytes, grace=GRACE) as streams:
                await _converse(server, streams)
        finally:
            await server.close()


async def _converse(server: "BoardServer", streams: "StdioStreams") -> None:
    """Serve until the client closes its end; calls that ignore their cancellation are left."""
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
