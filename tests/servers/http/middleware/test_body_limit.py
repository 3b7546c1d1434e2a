"""The size of a body, and the time that it may take."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.types import Message, Receive, Scope, Send
from tests.servers.http.live import live, live_settings
from tests.servers.http.made import a_board, client_of

from pegboard.servers.http.middleware.body_limit import BodyLimit

JSON = {"content-type": "application/json"}
FAR_TOO_LARGE = 30_000_000


async def chunks(count: int, size: int = 1000) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b" " * size


async def test_a_body_that_says_it_is_too_large_is_not_read(tmp_path: Path) -> None:
    async with client_of(a_board(tmp_path, max_request_bytes=1000)) as client:
        answer = await client.post("/execute", content=b" " * 1001, headers=JSON)

    assert (answer.status_code, answer.json()["code"]) == (413, "request_too_large")
    assert answer.headers["connection"] == "close"
    assert "1000 bytes" in answer.json()["detail"]


async def test_a_body_that_grows_too_large_is_not_read_to_its_end(tmp_path: Path) -> None:
    async with client_of(a_board(tmp_path, max_request_bytes=5000)) as client:
        answer = await client.post("/execute", content=chunks(100), headers=JSON)

    assert (answer.status_code, answer.json()["code"]) == (413, "request_too_large")
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_body_of_just_the_size_is_read(tmp_path: Path) -> None:
    body = b'{"name": "add", "input": {"a": 1}}'.ljust(1000)
    async with client_of(a_board(tmp_path, max_request_bytes=1000)) as client:
        answer = await client.post("/execute", content=body, headers=JSON)

    assert answer.json()["output"] == 1


async def test_a_body_that_takes_too_long_is_given_up() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass

    limited = BodyLimit(app, max_bytes=1000, upload_timeout=0.05)
    parts = iter([{"type": "http.request", "body": b"{", "more_body": True}])

    async def slowly() -> Message:
        for part in parts:
            return part
        return await asyncio.sleep(60, {"type": "http.disconnect"})

    with pytest.raises(Exception, match="took too long") as caught:
        await limited({"type": "http", "headers": []}, slowly, _never)

    assert getattr(caught.value, "status_code", None) == 408


PART = {"type": "http", "method": "PATCH", "path": "/v1/uploads/f_1", "headers": []}


@pytest.mark.parametrize(
    "other",
    [{"method": "POST"}, {"path": "/v1/uploads/f_1/finish"}, {"path": "/v1/uploads"}],
    ids=str,
)
async def test_only_parts_of_uploads_are_larger(other: dict[str, str]) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()

    async def arriving() -> Message:
        return {"type": "http.request", "body": b"x" * 11}

    limited = BodyLimit(app, 10, max_part_bytes=100)
    await limited(PART, arriving, _never)
    with pytest.raises(Exception, match="more than 10 bytes"):
        await limited(PART | other, arriving, _never)


async def test_a_part_that_stops_arriving_is_given_up() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass

    parts = [{"type": "http.request", "body": b"x", "more_body": True}]

    async def stopping() -> Message:
        if parts:
            return parts.pop()
        return await asyncio.sleep(60, {"type": "http.disconnect"})

    limited = BodyLimit(app, 10, max_part_bytes=100, idle_timeout=0.01)
    with pytest.raises(Exception, match="took too long"):
        await limited(PART, stopping, _never)


async def test_a_client_may_wait_for_its_answer_as_long_as_it_likes() -> None:
    messages = iter([{"type": "http.request", "body": b"{}", "more_body": False}])
    received: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        received.append((await receive())["type"])
        received.append((await receive())["type"])

    async def waiting() -> Message:
        for message in messages:
            return message
        return await asyncio.sleep(0.1, {"type": "http.disconnect"})

    limited = BodyLimit(app, max_bytes=1000, upload_timeout=0.05)
    await limited({"type": "http", "headers": []}, waiting, _never)

    assert received == ["http.request", "http.disconnect"]


@pytest.mark.parametrize("path", ["/mcp", "/execute"])
async def test_a_client_that_asks_first_is_refused_before_it_sends(
    tmp_path: Path, path: str
) -> None:
    async with live(live_settings(tmp_path, max_request_bytes=100_000)) as url:
        read = await asyncio.to_thread(_upload, url, path, "Expect: 100-continue", b"")

    assert read.startswith(b"HTTP/1.1 413 ")
    assert b"100 Continue" not in read


@pytest.mark.parametrize("path", ["/mcp", "/execute"])
async def test_a_client_that_reads_while_it_writes_is_refused(tmp_path: Path, path: str) -> None:
    async with live(live_settings(tmp_path, max_request_bytes=100_000)) as url:
        read = await asyncio.to_thread(_upload, url, path, "Accept: */*", b" " * 1_000_000)

    assert read.startswith(b"HTTP/1.1 413 ")


def _upload(url: str, path: str, header: str, body: bytes) -> bytes:
    """What a client reads that writes the beginning of a body of 30 MB."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {FAR_TOO_LARGE}\r\n{header}\r\n\r\n"
    )
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as raw:
        raw.sendall(head.encode())
        writing = threading.Thread(target=_write, args=(raw, body))
        writing.start()
        read = b""
        while b"100000 bytes" not in read:
            read += raw.recv(10_000)
        writing.join()
        return read


def _write(raw: socket.socket, body: bytes) -> None:
    with contextlib.suppress(OSError):  # the server closes the connection once it has answered
        raw.sendall(body)


async def test_what_is_not_http_passes_through() -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    await BodyLimit(app, max_bytes=1)({"type": "lifespan"}, _never, _never)

    assert seen == ["lifespan"]


async def _never(*_: object) -> Any:
    raise AssertionError("nothing of this is used")
