"""Connections of a real server: half-sent requests, and more of them than there is room for."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from tests.servers.http.made import a_board
from tests.servers.http.websocket.sockets import connected, served

from pegboard.runtime import Pegboard

HALF = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
REFUSED_WITH_BODY = (
    b"POST /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000000\r\n\r\n{"
)


@pytest.fixture
async def board(tmp_path: Path) -> AsyncGenerator[Pegboard]:
    async with a_board(tmp_path) as opened:
        yield opened


class Raw:
    """A connection on which a test writes bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def receive_until_end(self) -> bytes:
        """Everything until the server closes; empty if it resets."""
        try:
            return await self.reader.read()
        except ConnectionResetError:
            return b""


@asynccontextmanager
async def raw(url: str) -> AsyncGenerator[Raw]:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        yield Raw(reader, writer)
    finally:
        writer.close()


async def is_well(url: str) -> bool:
    async with httpx2.AsyncClient() as client:
        return (await client.get(f"{url}/healthz")).status_code == 200


@pytest.mark.parametrize("sent", [b"", b"G", HALF], ids=["nothing", "a byte", "half a head"])
async def test_a_request_without_its_headers_is_ended_after_the_deadline(
    board: Pegboard, sent: bytes
) -> None:
    async with served(board, header_timeout=0.1) as url, raw(url) as slow:
        await slow.send(sent)

        answer = await slow.receive_until_end()

    assert answer.startswith(b"HTTP/1.1 408 ")


async def test_a_second_request_has_the_same_deadline(board: Pegboard) -> None:
    async with served(board, header_timeout=0.1) as url, raw(url) as slow:
        await slow.send(WHOLE)
        first = await slow.reader.readuntil(b'"ok"}')
        await slow.send(HALF)

        answer = await slow.receive_until_end()

    assert first.startswith(b"HTTP/1.1 200 ")
    assert answer.startswith(b"HTTP/1.1 408 ")


async def test_the_rest_of_an_answered_request_is_not_awaited_for_ever(board: Pegboard) -> None:
    async with served(board, header_timeout=0.1) as url, raw(url) as slow:
        await slow.send(REFUSED_WITH_BODY)

        answer = await slow.receive_until_end()

    assert answer.startswith(b"HTTP/1.1 404 ")


async def test_half_sent_requests_make_room_for_others(board: Pegboard) -> None:
    async with served(board, max_connections=20) as url, AsyncExitStack() as stack:
        slow = [await stack.enter_async_context(raw(url)) for _ in range(40)]
        for connection in slow:
            await connection.send(HALF)

        assert await is_well(url)
        assert await slow[0].receive_until_end() == b""


async def test_running_requests_and_sockets_are_not_ended_for_others(board: Pegboard) -> None:
    async with served(board, max_connections_per_address=2) as url, connected(url) as socket:
        async with raw(url) as running:
            await running.send(REFUSED_WITH_BODY.replace(b"/nowhere", b"/execute"))
            async with raw(url) as late:
                answer = await late.receive_until_end()
        pong = await socket.ask("ping")

    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"Retry-After: 1" in answer
    assert pong["type"] == "pong"


async def test_connections_that_end_leave_their_room(board: Pegboard) -> None:
    async with served(board, max_connections_per_address=2) as url:
        for _ in range(5):
            async with connected(url), connected(url):
                pass

        assert await is_well(url)
