"""Streams of answers: what follows the answer is read, and a flood ends the session."""

import asyncio
import json
from typing import Any

import pytest
from tests.network.loopback import Answer, Received, reply, serving, until
from tests.sources.mcp.opening import by_action, call_of, opened
from tests.sources.mcp.rogue import lines, replies, said

from pegboard.errors import MCPConnectionError
from pegboard.sources.mcp.transport.message_rate import MessageRate

pytestmark = pytest.mark.timeout(60)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
LOG = (
    '{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}'
)


CHUNKED = HEAD[:-2] + b"Transfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def streaming(end: bytes) -> Answer:
    """Answers with a stream of one event; what ends the stream is sent apart from it."""

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        message = json.loads(received.body or b"{}")
        if received.method != "POST" or "id" not in message:
            writer.write(reply(status=405 if received.method == "GET" else 202))
            return
        (line,) = lines(replies(), message)
        event = f"event: message\ndata: {line}\n\n".encode()
        writer.write(CHUNKED + f"{len(event):x}\r\n".encode() + event + b"\r\n")
        await writer.drain()
        await asyncio.sleep(0)
        writer.write(end)

    return answer


async def test_calls_that_are_answered_by_a_stream_share_a_connection() -> None:
    async with serving(streaming(END)) as server:
        config = {"url": f"http://{server.authority}/mcp", "protocol": "legacy"}
        async with opened(config) as source:
            tools = await by_action(source)
            await tools["plain"].run({}, call_of())
            before = server.connections
            for _ in range(3):
                assert (await tools["plain"].run({}, call_of())).text == "well"

            assert server.connections == before


async def test_a_stream_that_goes_on_after_its_answer_is_closed() -> None:
    async with serving(streaming(b"")) as server:
        config = {"url": f"http://{server.authority}/mcp", "protocol": "legacy"}
        async with opened(config) as source:
            tools = await by_action(source)

            assert (await tools["plain"].run({}, call_of())).text == "well"
            await until(lambda: server.open == 0)


def few() -> MessageRate:
    """What a machine reads in ten seconds differs: a flood is a flood at a thousand, too."""
    return MessageRate(most=1_000, seconds=60.0)


async def _flood(writer: asyncio.StreamWriter, piece: bytes) -> None:
    try:
        while not writer.is_closing():
            writer.write(piece * 100)
            await writer.drain()
    except ConnectionError:
        pass


@pytest.mark.slow
@pytest.mark.parametrize("piece", [f"data: {LOG}\n\n".encode(), b": ping\n", b"data:\n\n"])
async def test_a_flood_on_the_stream_of_a_call_ends_the_session(piece: bytes) -> None:
    calls: list[int] = []

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        message = json.loads(received.body or b"{}")
        if received.method != "POST" or "id" not in message:
            writer.write(reply(status=405 if received.method == "GET" else 202))
        elif message["method"] == "tools/call" and not calls:
            calls.append(1)
            writer.write(HEAD)
            await _flood(writer, piece)
        else:
            told = replies(tools_call=[said("well")])
            body = "\n".join(lines(told, message)).encode()
            writer.write(reply(body, headers={"content-type": "application/json"}))

    async with serving(answer) as server:
        config = {"url": f"http://{server.authority}/mcp", "protocol": "legacy"}
        async with opened(config, rate=few) as source:
            tools = await by_action(source)
            with pytest.raises(
                MCPConnectionError, match="sent more than 1000 messages in 60 s, so"
            ):
                await tools["plain"].run({}, call_of())
            # a session that begins anew is measured anew
            assert (await tools["plain"].run({}, call_of())).text == "well"
        greetings = [item for item in server.requests if b'"initialize"' in item.body]

    assert len(greetings) == 3  # the board's own session, the caller's, and the caller's next


@pytest.mark.slow
@pytest.mark.parametrize("when", ["initialize", "tools/call"])
async def test_a_flood_on_the_one_stream_of_sse_ends_the_session(when: str) -> None:
    streams: list[asyncio.StreamWriter] = []
    floods: list[asyncio.Task[Any]] = []

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        if received.method == "GET":
            streams.append(writer)
            writer.write(HEAD + b"event: endpoint\ndata: /post\n\n")
            return
        writer.write(reply(status=202))
        message = json.loads(received.body)
        if message.get("method") == when:
            flood = _flood(streams[-1], f"event: message\ndata: {LOG}\n\n".encode())
            floods.append(asyncio.create_task(flood))
            return
        for line in lines(replies(), message):
            streams[-1].write(f"event: message\ndata: {line}\n\n".encode())

    async with serving(answer) as server:
        config = {"url": f"http://{server.authority}/sse", "protocol": "legacy"}
        async with opened({**config, "transport": "sse"}, rate=few) as source, asyncio.timeout(20):

            async def ask() -> None:
                tools = await by_action(source)
                await tools["plain"].run({}, call_of())

            with pytest.raises(MCPConnectionError, match="more than 1000 messages in 60 s"):
                await ask()
        for flood in floods:
            flood.cancel()
        await asyncio.wait(floods)
