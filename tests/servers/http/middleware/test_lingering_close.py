"""A client that sends more than is read gets its answer, and no more patience than there is."""

import asyncio
import http.client
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.types import Message, Receive, Scope, Send
from tests.servers.http.live import live, live_settings

from pegboard.servers.http.middleware.lingering_close import LingeringClose, Patience

FAR_TOO_LARGE = 30_000_000
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
CLOSE = [(b"connection", b"close")]


def posted(url: str, body: Any) -> tuple[int, bytes]:
    """What a client reads that writes all of its body before it reads anything."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=60)
    try:
        connection.request("POST", parts.path, body, JSON, encode_chunked=True)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def pieces() -> Any:
    """A body that does not say how long it is."""
    return (b" " * 100_000 for _ in range(FAR_TOO_LARGE // 100_000))


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("path", ["/mcp", "/execute"])
@pytest.mark.parametrize("says_its_length", [True, False])
async def test_a_client_that_writes_far_too_much_reads_why_it_is_refused(
    tmp_path: Path, path: str, says_its_length: bool
) -> None:
    body = b" " * FAR_TOO_LARGE if says_its_length else pieces()
    async with live(live_settings(tmp_path, max_request_bytes=100_000)) as url:
        status, told = await asyncio.to_thread(posted, url + path, body)

    assert status == 413
    assert b"100000 bytes" in told


@pytest.mark.parametrize("path", ["/mcp", "/execute"])
async def test_a_client_that_asks_first_is_refused_before_it_sends(
    tmp_path: Path, path: str
) -> None:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {FAR_TOO_LARGE}\r\nExpect: 100-continue\r\n\r\n"
    )

    def asked(url: str) -> bytes:
        parts = urlsplit(url)
        with socket.create_connection((parts.hostname, parts.port), timeout=60) as raw:
            raw.sendall(head.encode())
            told = b""
            while b"100000 bytes" not in told:
                told += raw.recv(10_000)
            return told

    async with live(live_settings(tmp_path, max_request_bytes=100_000)) as url:
        told = await asyncio.to_thread(asked, url)

    assert told.startswith(b"HTTP/1.1 413 ")
    assert b"100 Continue" not in told


@dataclass
class Client:
    """Sends these messages, and keeps what it is told and when: after how many of its own."""

    messages: AsyncIterator[Message]
    told: list[Message] = field(default_factory=list[Message])
    sent: int = 0
    sent_at: list[int] = field(default_factory=list[int])

    async def receive(self) -> Message:
        message = await anext(self.messages)
        self.sent += 1
        return message

    async def send(self, message: Message) -> None:
        self.told.append(message)
        self.sent_at.append(self.sent)


async def sending(count: int, *, whole: bool = True) -> AsyncIterator[Message]:
    """A body in so many pieces, after which its client waits."""
    for number in range(1, count + 1):
        more = not whole or number < count
        yield {"type": "http.request", "body": b"x" * 10, "more_body": more}
    await asyncio.Event().wait()


async def leaving() -> AsyncIterator[Message]:
    """A client that goes away in the middle."""
    yield {"type": "http.request", "body": b"x", "more_body": True}
    yield {"type": "http.disconnect"}


def answering(*, headers: Any = CLOSE, reads: int = 0) -> Any:
    """An application that reads so many pieces and then says no."""

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        for _ in range(reads):
            await receive()
        await send({"type": "http.response.start", "status": 413, "headers": list(headers)})
        await send({"type": "http.response.body", "body": b"no"})

    return app


async def exchanged(
    client: Client,
    app: Any,
    *headers: tuple[bytes, bytes],
    version: str = "1.1",
    **patience: Any,
) -> Client:
    """The client, once its request is answered."""
    door = LingeringClose(app, max_bytes=1_000, patience=Patience(**patience))
    scope = {"type": "http", "http_version": version, "headers": list(headers)}
    await door(scope, client.receive, client.send)
    return client


LONG = (b"content-length", b"5000")
SHORT = (b"content-length", b"50")
CHUNKED = (b"transfer-encoding", b"chunked")
NO: list[Message] = [
    {"type": "http.response.start", "status": 413, "headers": CLOSE},
    {"type": "http.response.body", "body": b"no", "more_body": True},
    {"type": "http.response.body", "body": b"", "more_body": False},
]


@pytest.mark.parametrize("reads", [0, 3])
async def test_the_answer_is_told_at_once_and_ends_when_the_body_has_ended(reads: int) -> None:
    client = await exchanged(Client(sending(20)), answering(reads=reads), LONG)

    assert client.told == NO
    assert client.sent_at == [reads, reads, 20]


@pytest.mark.parametrize(
    ("patience", "heard"),
    [({"most_bytes": 45, "idle": 60.0}, 5), ({"longest": 0.0}, 0), ({"idle": 0.01}, 20)],
    ids=["bytes", "seconds", "silence"],
)
async def test_patience_ends(patience: dict[str, Any], heard: int) -> None:
    client = Client(sending(20, whole=False))
    await exchanged(client, answering(), LONG, **patience)

    assert (client.told, client.sent_at[-1]) == (NO, heard)


async def test_a_client_that_leaves_is_heard_no_longer() -> None:
    client = await exchanged(Client(leaving()), answering(), LONG)

    assert client.sent_at == [0, 0, 2]


@pytest.mark.parametrize(
    "headers", [(LONG,), (CHUNKED,), (SHORT, CHUNKED), ((b"content-length", b"9" * 5000),)]
)
async def test_a_body_without_a_bound_closes_the_connection_whatever_its_answer(
    headers: tuple[tuple[bytes, bytes], ...],
) -> None:
    client = await exchanged(Client(sending(20)), answering(headers=()), *headers)

    assert client.told == NO


@pytest.mark.parametrize(
    ("headers", "reads"),
    [((SHORT,), 0), ((LONG,), 20), ((CHUNKED,), 20), ((), 0), (((b"content-length", b"0"),), 0)],
    ids=["short", "read", "read in pieces", "no body", "empty"],
)
async def test_every_other_answer_passes_as_it_is(
    headers: tuple[tuple[bytes, bytes], ...], reads: int
) -> None:
    client = Client(sending(20))
    await exchanged(client, answering(headers=(), reads=reads), *headers)

    start, body = client.told
    assert start["headers"] == []
    assert body == {"type": "http.response.body", "body": b"no"}
    assert client.sent == reads


async def test_a_client_that_closes_by_itself_is_heard_too() -> None:
    client = Client(sending(5))
    await exchanged(client, answering(headers=()), SHORT, (b"connection", b"TE, Close"))

    assert client.sent_at == [0, 0, 5]


async def test_a_client_of_http_1_0_is_heard_too_whose_connection_never_stays() -> None:
    client = await exchanged(Client(sending(5)), answering(headers=()), SHORT, version="1.0")

    assert client.sent_at == [0, 0, 5]


async def test_what_is_not_http_passes_through() -> None:
    seen: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope["type"])

    client = Client(sending(0))
    await LingeringClose(app, max_bytes=1)({"type": "lifespan"}, client.receive, client.send)

    assert seen == ["lifespan"]
