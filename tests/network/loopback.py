"""A real HTTP server on loopback that answers what a test says and keeps what it was sent."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pegboard.network import GuardedClient, SsrfPolicy

CERTIFICATE = Path(__file__).with_name("tls-cert.pem")
KEY = Path(__file__).with_name("tls-key.pem")


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Answer = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Server:
    port: int = 0
    connections: int = 0
    open: int = 0
    requests: list[Received] = field(default_factory=list)
    server_names: list[str | None] = field(default_factory=list)

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.port}"


def reply(
    body: bytes = b"ok", *, status: int = 200, headers: dict[str, str] | None = None
) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def always(raw: bytes) -> Answer:
    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)

    return answer


@asynccontextmanager
async def serving(
    answer: Answer, *, host: str = "127.0.0.1", tls: bool = False
) -> AsyncGenerator[Server]:
    server = Server()
    writers: list[asyncio.StreamWriter] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        server.open += 1
        writers.append(writer)
        try:
            while (received := await _read(reader)) is not None:
                server.requests.append(received)
                await answer(received, writer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            server.open -= 1
            writer.close()

    context = _server_context(server) if tls else None
    listening = await asyncio.start_server(connected, host, 0, ssl=context)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for writer in writers:
            writer.close()
        await asyncio.sleep(0.01)


@asynccontextmanager
async def client_for(
    *servers: Server,
    max_bytes: int = 1_000_000,
) -> AsyncGenerator[GuardedClient]:
    """A client that may reach these servers."""
    client = GuardedClient(
        policy=SsrfPolicy(allow_hosts=[server.authority for server in servers]),
        timeout=40,
        max_bytes=max_bytes,
    )
    try:
        yield client
    finally:
        await client.close()


def let_pass(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let time pass on the running loop, all at once."""
    loop = asyncio.get_running_loop()
    now = loop.time
    monkeypatch.setattr(loop, "time", lambda: now() + seconds)


async def until(happened: Callable[[], bool]) -> None:
    """Return once it happened; fail when it takes too long."""
    for _ in range(4_000):
        if happened():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen")


def trusting_context() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(CERTIFICATE))


def _server_context(server: Server) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)

    def keep_name(_: ssl.SSLObject, name: str | None, __: ssl.SSLContext) -> None:
        server.server_names.append(name)

    context.sni_callback = keep_name
    return context


async def _read(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, body)
