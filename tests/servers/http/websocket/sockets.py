"""A board behind a server that really listens, and a client that speaks to its `/ws`."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from pegboard import Pegboard
from pegboard.servers.http import create_app
from pegboard.servers.http.bind_address import bind_socket, url_of
from pegboard.servers.http.middleware.authentication import (
    AuthenticationMiddleware,
    authentication_settings,
)
from pegboard.servers.http.uvicorn_server import quiet_server
from pegboard.servers.http.websocket.connection import ConnectionLimits
from pegboard.servers.http.websocket.endpoint import WebSocketEndpoint

Json = dict[str, Any]


async def nothing() -> None:
    """What a server without an MCP door has to end."""


@asynccontextmanager
async def served(
    board: Pegboard,
    *,
    limits: ConnectionLimits | None = None,
    most: int | None = None,
    ping: float = 20.0,
    **settings: Any,
) -> AsyncGenerator[str]:
    """The address of a server of an open board; with limits of one's own only its sockets."""
    app: Any = create_app(board)
    if limits is not None or most is not None:
        door = WebSocketEndpoint(board, limits=limits, most=most or 256)
        app = AuthenticationMiddleware(door, authentication_settings(board.settings))
    listening: socket.socket = bind_socket(board.settings.replace(port=0))
    ready = asyncio.Event()
    server = quiet_server(
        app,
        grace=1,
        started=ready.set,
        ending=nothing,
        settings=board.settings.replace(**settings),
        ping=ping,
    )
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    await ready.wait()
    try:
        yield url_of(listening)
    finally:
        server.should_exit = True
        await serving
        listening.close()


class Client:
    """A client that gives each request an id, and sorts what comes back."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self._next = 0

    async def send(self, type: str, **fields: Any) -> int:
        """Send a message; its id."""
        self._next += 1
        await self.socket.send(json.dumps({"id": self._next, "type": type, **fields}))
        return self._next

    async def read(self) -> Json:
        """The next message."""
        text = await asyncio.wait_for(self.socket.recv(), 40)
        assert isinstance(text, str)
        return json.loads(text)

    async def until(self, id: int | None, *types: str) -> tuple[Json, list[Json]]:
        """The first message of this id that is of one of these types, and its others before."""
        before: list[Json] = []
        while True:
            message = await self.read()
            if message["id"] != id:
                continue
            if message["type"] in types:
                return message, before
            before.append(message)

    async def ask(self, type: str, **fields: Any) -> Json:
        """What a request is answered with in the end."""
        request = await self.send(type, **fields)
        return (await self.until(request, "result", "error", "pong"))[0]

    async def call(self, name: str, /, **arguments: Any) -> Json:
        """Call a tool."""
        return await self.ask("call", body={"name": name, "input": arguments})

    async def say(self, text: str | bytes) -> Json:
        """Send anything at all; the next message."""
        await self.socket.send(text)
        return await self.read()

    async def closed(self) -> tuple[int, str]:
        """Read until the connection ends: with which code, and why."""
        with suppress(ConnectionClosed):
            while True:
                await asyncio.wait_for(self.socket.recv(), 40)
        return self.socket.close_code or 0, self.socket.close_reason or ""


@asynccontextmanager
async def connected(url: str, path: str = "/ws", **options: Any) -> AsyncGenerator[Client]:
    """A client of such a server."""
    async with connect(f"ws{url.removeprefix('http')}{path}", proxy=None, **options) as socket:
        yield Client(socket)


def problem_in(answer: Mapping[str, Any]) -> tuple[Any, str, int]:
    """Whose error it is, its code and its status."""
    assert answer["type"] == "error", answer
    return answer["id"], answer["problem"]["code"], answer["problem"]["status"]


HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


@asynccontextmanager
async def raw(
    url: str,
) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection after its handshake, with bytes as they are."""
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(HANDSHAKE)
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
    try:
        yield reader, writer
    finally:
        writer.close()


def frame(text: str) -> bytes:
    """A text frame of a client."""
    content = text.encode()
    assert len(content) < 2**16
    length = bytes([0x80 | 126]) + len(content).to_bytes(2)
    return b"\x81" + length + b"\0\0\0\0" + content
