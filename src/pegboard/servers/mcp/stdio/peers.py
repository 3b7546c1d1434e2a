"""What may serve the client of a joined process: another process, or a board of its own."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

from pegboard.servers.mcp.stdio.join import HolderConnection
from pegboard.servers.mcp.stdio.lines import encode_line
from pegboard.servers.mcp.stdio.transport import StdioStreams
from pegboard.servers.shutdown import cancel_and_wait


class HolderPeer:
    """The process that holds the data directory.

    Args:
        connection: The connection to it.
    """

    def __init__(self, connection: HolderConnection) -> None:
        self._connection = connection

    async def send(self, message: JSONRPCMessage) -> None:
        """Send it a message of the client."""
        await self._connection.out.write_line(encode_line(message))

    async def receive(self) -> JSONRPCMessage | None:
        """Its next message; None when it has ended."""
        line = await self._connection.lines.next()
        if line is None:
            return None
        return jsonrpc_message_adapter.validate_json(line, by_name=False)


class BoardPeer:
    """A board of this process, behind the streams of one client."""

    def __init__(
        self,
        to_server: MemoryObjectSendStream[SessionMessage | Exception],
        from_server: MemoryObjectReceiveStream[SessionMessage],
    ) -> None:
        self._to_server = to_server
        self._from_server = from_server

    async def send(self, message: JSONRPCMessage) -> None:
        """Send it a message of the client."""
        with suppress(anyio.BrokenResourceError):
            await self._to_server.send(SessionMessage(message))

    async def receive(self) -> JSONRPCMessage | None:
        """Its next message; None when it has ended."""
        try:
            return (await self._from_server.receive()).message
        except anyio.EndOfStream:
            return None


@asynccontextmanager
async def open_board_peer(
    converse: Callable[[StdioStreams], Awaitable[None]],
) -> AsyncGenerator[BoardPeer]:
    """Serve one client from a board of this process.

    Args:
        converse: Serves the client until it ends.
    """
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    streams = StdioStreams(incoming=incoming, outgoing=outgoing, ended=asyncio.Event())

    async def serve() -> None:
        await converse(streams)

    serving = asyncio.create_task(serve())
    try:
        yield BoardPeer(to_server, from_server)
    finally:
        streams.ended.set()
        await cancel_and_wait((serving,))
        for stream in (to_server, incoming, outgoing, from_server):
            stream.close()
