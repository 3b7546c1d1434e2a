"""Upstreams that answer late, or never."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

_DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Stock", "version": "1"},
    "paths": {
        "/stock": {
            "get": {"operationId": "stock", "responses": {"200": {"description": "How many"}}}
        },
        "/refill": {
            "post": {"operationId": "refill", "responses": {"200": {"description": "Done"}}}
        },
    },
}


class LateApi:
    """An HTTP API that says nothing before it is told to.

    Attributes:
        port: Where it listens.
        answers: Set once it may answer.
        asked: How many requests have come.
    """

    def __init__(self) -> None:
        self.port = 0
        self.answers = asyncio.Event()
        self.asked = 0

    @property
    def source(self) -> str:
        """A line of a board's sources."""
        url = f"http://127.0.0.1:{self.port}"
        return (
            f'{{kind: openapi, name: late, config: {{document: "{url}/openapi.json", '
            f'base_url: "{url}"}}}}'
        )

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, late."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.asked += 1
            await self.answers.wait()
            body = json.dumps(_DOCUMENT if b"openapi.json" in head else 7).encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                + f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # who asked has gone
        finally:
            writer.close()


@asynccontextmanager
async def late_api() -> AsyncGenerator[LateApi]:
    """One that listens."""
    api = LateApi()
    server = await asyncio.start_server(api.handle, "127.0.0.1", 0)
    api.port = server.sockets[0].getsockname()[1]
    try:
        yield api
    finally:
        api.answers.set()
        server.close()


@contextmanager
def silent_port() -> Generator[int]:
    """A port that accepts connections and says nothing, ever."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(50)
        yield listening.getsockname()[1]


@contextmanager
def dead_port() -> Generator[int]:
    """A port that nobody listens on, and that nobody else is given meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]
