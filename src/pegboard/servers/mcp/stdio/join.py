"""Joined processes: further `pegboard mcp` on a data directory that one process holds.

The first line of a joined process is a `JoinRequest`, the answer a `JoinAnswer`. After that each
line in either direction is a message of MCP, as over stdio.
"""

import asyncio
import hmac
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from msgspec import DecodeError, Struct, json

from pegboard.core.principal import LOCAL
from pegboard.errors import ConfigError, InvalidRequest
from pegboard.runtime import Pegboard
from pegboard.runtime.holder import Holder
from pegboard.servers.mcp.selection import BoardSelection, check_globs, check_selection
from pegboard.servers.mcp.stdio.lines import TOO_LONG, SocketLines, SocketWriter
from pegboard.servers.shutdown import cancel_and_wait

if TYPE_CHECKING:
    from pegboard.servers.mcp.stdio.transport import StdioStreams

_HOST = "127.0.0.1"
_GREETING_SECONDS = 10.0
_GREETING_BYTES = 100_000
_MAX_BYTES = 2**30
"""Size of the largest message that a joined process reads; the holder bounds what it sends."""

MAX_JOINED = 100
"""Joined processes at once."""

NO_BOARD = "none"
_LOG = logging.getLogger("pegboard.mcp")


class JoinRequest(Struct, frozen=True, kw_only=True):
    """The first line of a joined process, or of a server that starts.

    Attributes:
        make_way_for: The board file of a server that starts and needs the data directory, or `none`
            without one; empty for a process that joins.
        key: The key of the process's own caller, for a board with accounts; empty for none.
    """

    token: str
    make_way_for: str = ""
    only: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    own: str = ""
    listed: tuple[str, ...] = ()
    key: str = ""


class JoinAnswer(Struct, frozen=True, kw_only=True):
    """The answer to a greeting.

    Attributes:
        refusal: Why the process may not join; empty if it may.
        warnings: For the operator, as `check_globs` gives them.
        makes_way: Whether the process gives up the data directory to the server that asked.
    """

    refusal: str = ""
    makes_way: bool = False
    warnings: tuple[str, ...] = ()


MakeWay = Callable[[str], str]
"""Gives up the data directory to a server with this board; or returns why it does not."""

Converse = Callable[[Pegboard, BoardSelection, str, "StdioStreams"], Awaitable[None]]
"""Serves one client until it ends: the board, what it gets, its key, and its streams."""


@asynccontextmanager
async def listen_for_joined(
    board: Pegboard,
    token: str,
    converse: Converse,
    *,
    grace: float,
    make_way: MakeWay | None = None,
) -> AsyncGenerator[str]:
    """Serve the board to processes that join; yields the address, as `127.0.0.1:1234`.

    Args:
        board: An open board.
        token: What they must send.
        converse: Serves one of them.
        grace: Seconds that the open requests of one have to finish when it ends.
        make_way: For a server that starts; None where this process is one.
    """
    running: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines, out = SocketLines(reader), SocketWriter(writer)
        try:
            welcomed = await _welcome(board, token, lines, out, make_way)
            if welcomed is not None:
                # importing the SDK takes a second, during which other requests would wait
                await asyncio.to_thread(import_module, "pegboard.servers.mcp.server")
                from pegboard.servers.mcp.stdio.transport import open_message_streams

                async with open_message_streams(lines, out, grace=grace) as streams:
                    await converse(board, *welcomed, streams)
        finally:
            out.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(running) >= MAX_JOINED:
            writer.close()
            return
        task = asyncio.create_task(serve(reader, writer))
        running.add(task)
        task.add_done_callback(_finish)

    def _finish(task: "asyncio.Task[None]") -> None:
        running.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _LOG.error("mcp: serving a joined process failed", exc_info=task.exception())

    limit = board.settings.max_request_bytes
    listening = await asyncio.start_server(accept, _HOST, 0, limit=limit)
    try:
        yield "{}:{}".format(*listening.sockets[0].getsockname()[:2])
    finally:
        listening.close()
        await cancel_and_wait(set(running))


async def _welcome(
    board: Pegboard, token: str, lines: SocketLines, out: SocketWriter, make_way: MakeWay | None
) -> tuple[BoardSelection, str] | None:
    """Answer the greeting; returns what is served to which key.

    None refuses the process, and says nothing without the token.
    """
    line: bytes | None = None
    with suppress(TimeoutError):
        async with asyncio.timeout(_GREETING_SECONDS):
            line = await lines.next()
    if line is None or line is TOO_LONG or len(line) > _GREETING_BYTES:
        return None
    try:
        given = json.decode(line, type=JoinRequest)
    except (DecodeError, ValueError):
        return None
    if not hmac.compare_digest(given.token.encode(), token.encode()):
        return None
    if given.make_way_for:
        refusal = make_way(given.make_way_for) if make_way is not None else "It is a server."
        answer = JoinAnswer(refusal=refusal, makes_way=not refusal)
        await out.write_line(json.encode(answer) + b"\n")
        return None
    selection = BoardSelection(
        only=given.only,
        sources=given.sources,
        categories=given.categories,
        exclude=given.exclude,
        own=given.own,
        listed=given.listed,
    )
    try:
        check_selection(selection, board, principal=LOCAL)
        welcome = JoinAnswer(warnings=tuple(check_globs(selection, board)))
    except InvalidRequest as error:
        welcome = JoinAnswer(refusal=error.message)
    await out.write_line(json.encode(welcome) + b"\n")
    return None if welcome.refusal else (selection, given.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class HolderConnection:
    """A connection to the process that holds the data directory."""

    lines: SocketLines
    out: SocketWriter
    warnings: tuple[str, ...] = ()


async def join_holder(
    holder: Holder, selection: BoardSelection, *, key: str = ""
) -> HolderConnection | None:
    """Connect to the process that holds the data directory; None if it does not answer.

    Args:
        holder: The process.
        selection: What it is to serve.
        key: The key of this process's caller, for a board with accounts; empty for none.

    Raises:
        ConfigError: It refuses the selection.
    """
    greeting = JoinRequest(
        token=holder.token,
        only=selection.only,
        sources=selection.sources,
        categories=selection.categories,
        exclude=selection.exclude,
        own=selection.own,
        listed=selection.listed,
        key=key,
    )
    greeted = await _greet(holder, greeting)
    if greeted is None:
        return None
    welcome, lines, out = greeted
    if welcome.refusal:
        out.close()
        raise ConfigError(welcome.refusal)
    return HolderConnection(lines=lines, out=out, warnings=welcome.warnings)


async def ask_to_make_way(holder: Holder, board: str) -> str:
    """Ask a `pegboard mcp` to give up the data directory to this server, and to join it then.

    Args:
        holder: The process.
        board: The absolute path of the server's board file; empty for none.

    Returns:
        Why it does not; empty if it does.
    """
    greeting = JoinRequest(token=holder.token, make_way_for=board or NO_BOARD)
    greeted = await _greet(holder, greeting)
    if greeted is None:
        return "It does not answer."
    answer, _, out = greeted
    out.close()
    return "" if answer.makes_way else answer.refusal or "Its version cannot give it up."


async def _greet(
    holder: Holder, greeting: JoinRequest
) -> tuple[JoinAnswer, SocketLines, SocketWriter] | None:
    """Connect and send the first line; None if the process does not answer."""
    host, _, port = holder.mcp.rpartition(":")
    try:
        async with asyncio.timeout(_GREETING_SECONDS):
            reader, writer = await asyncio.open_connection(host, int(port), limit=_MAX_BYTES)
            lines, out = SocketLines(reader), SocketWriter(writer)
            await out.write_line(json.encode(greeting) + b"\n")
            line = await lines.next()
    except (OSError, TimeoutError, ValueError):
        return None
    if line is None:
        out.close()
        return None
    return json.decode(line, type=JoinAnswer), lines, out
