"""The wire of stdin and stdout, on pipes of the test."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from tests.servers.mcp.made import until

from pegboard.servers.mcp.protocol_errors import DUPLICATE_ID
from pegboard.servers.mcp.stdio.transport import StdioStreams, open_streams

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'


class Ends:
    """The client's ends of both pipes."""

    def __init__(self, wire: StdioStreams, writing: int, reading: int) -> None:
        self.wire = wire
        self.writing, self.reading = writing, reading

    async def read(self) -> Any:
        """The next message that the server wrote."""
        return json.loads(await asyncio.to_thread(os.read, self.reading, 65_536))


@asynccontextmanager
async def ends(*, max_bytes: int = 1_000) -> AsyncGenerator[Ends]:
    read_in, write_in = os.pipe()
    read_out, write_out = os.pipe()
    descriptors = {read_in, write_in, read_out, write_out}
    try:
        async with open_streams(read_in, write_out, max_bytes=max_bytes, grace=0.5) as wire:
            yield Ends(wire, write_in, read_out)
            if not wire.ended.is_set():
                os.close(write_in)  # so that the thread that reads ends
                descriptors.discard(write_in)
                await asyncio.wait_for(wire.ended.wait(), 40)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


async def test_a_message_that_comes_in_pieces_is_one() -> None:
    async with ends() as client:
        os.write(client.writing, PING[:10])
        await asyncio.sleep(0.02)
        os.write(client.writing, PING[10:])
        found = await client.wire.incoming.receive()

    assert isinstance(found, SessionMessage)
    assert isinstance(found.message, JSONRPCRequest)
    assert found.message.method == "ping"


async def test_what_is_no_message_is_answered() -> None:
    async with ends() as client:
        os.write(client.writing, b"\xff\xfe\n")
        garbled = await client.read()
        os.write(client.writing, b"[1]\n")
        other = await client.read()

    assert (garbled["id"], garbled["error"]["code"]) == (None, -32700)
    assert other["error"]["message"] == "The message is not one of JSON-RPC 2.0"


@pytest.mark.parametrize("key", ["null", "1.5", "true", "{}"])
async def test_an_id_that_is_none_is_refused_rather_than_never_answered(key: str) -> None:
    async with ends() as client:
        os.write(client.writing, b'{"jsonrpc": "2.0", "id": %s, "method": "ping"}\n' % key.encode())
        refused = await client.read()
        os.write(client.writing, b'{"jsonrpc": "2.0", "method": "x", "params": {"id": null}}\n')
        found = await client.wire.incoming.receive()

    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    assert isinstance(found, SessionMessage)
    assert isinstance(found.message, JSONRPCNotification)


async def test_of_two_requests_with_one_id_the_second_is_refused_and_the_first_answered() -> None:
    async with ends() as client:
        os.write(client.writing, PING)
        first = await client.wire.incoming.receive()
        os.write(client.writing, PING)
        refused = await client.read()
        answer = JSONRPCResponse(jsonrpc="2.0", id=1, result={})
        await client.wire.outgoing.send(SessionMessage(answer))
        answered = await client.read()
        os.write(client.writing, PING)
        again = await client.wire.incoming.receive()

    assert (refused["id"], refused["error"]) == (1, {"code": -32600, "message": DUPLICATE_ID})
    assert answered == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert isinstance(first, SessionMessage)
    assert isinstance(again, SessionMessage)


async def test_a_message_that_is_too_long_is_answered_once_and_passed_over() -> None:
    async with ends(max_bytes=100_000) as client:
        writing = asyncio.to_thread(os.write, client.writing, b"x" * 300_000 + b"\n" + PING)
        sending = asyncio.create_task(writing)
        refused = await client.read()
        found = await client.wire.incoming.receive()
        await sending

    assert refused["error"]["message"] == "The message is too long"
    assert isinstance(found, SessionMessage)


async def test_messages_go_out_one_a_line() -> None:
    async with ends() as client:
        answer = JSONRPCResponse(jsonrpc="2.0", id=1, result={"a": "\n"})
        await client.wire.outgoing.send(SessionMessage(answer))
        written = await client.read()

    assert written == {"jsonrpc": "2.0", "id": 1, "result": {"a": "\n"}}


async def test_a_client_that_reads_no_more_is_written_to_in_vain() -> None:
    async with ends() as client:
        os.close(client.reading)
        client.reading = os.open(os.devnull, os.O_RDONLY)
        for number in range(3):
            answer = JSONRPCResponse(jsonrpc="2.0", id=number, result={})
            await asyncio.wait_for(client.wire.outgoing.send(SessionMessage(answer)), 40)


async def test_the_end_is_told() -> None:
    async with ends() as client:
        os.close(client.writing)
        client.writing = os.open(os.devnull, os.O_WRONLY)
        await until(client.wire.ended.is_set)
        left = [item async for item in client.wire.incoming]

    assert left == []
