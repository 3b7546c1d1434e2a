"""What serves the client of a joined process."""

import asyncio

from mcp_types import jsonrpc_message_adapter

from pegboard.servers.mcp.stdio.join import HolderConnection
from pegboard.servers.mcp.stdio.lines import SocketLines, SocketWriter
from pegboard.servers.mcp.stdio.peers import HolderPeer, open_board_peer
from pegboard.servers.mcp.stdio.transport import StdioStreams

PING = jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", "id": 1, "method": "ping"})


async def test_a_holder_gets_lines_and_ends_with_its_connection() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
    peer = HolderPeer(HolderConnection(lines=SocketLines(reader), out=SocketWriter(writer)))
    await peer.send(PING)
    echoed, after = await peer.receive(), await peer.receive()
    writer.close()
    server.close()

    assert (echoed, after) == (PING, None)


async def test_a_board_of_this_process_answers_and_ends() -> None:
    async def echo(streams: StdioStreams) -> None:
        async for item in streams.incoming:
            assert not isinstance(item, Exception)
            await streams.outgoing.send(item)
            streams.outgoing.close()

    async with open_board_peer(echo) as peer:
        await peer.send(PING)
        echoed, after = await peer.receive(), await peer.receive()

    assert (echoed, after) == (PING, None)
