import asyncio
import json
import logging
from typing import Any

import httpx2
import pytest
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send
from tests.servers.http.made import LOOPBACK

from pegboard.servers.http.middleware.security_headers import SecurityHeaders


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "path", ["/healthz", "/tools", "/nothing", "/tools?limit=0", "/openapi.json", "/metrics"]
)
async def test_every_answer_carries_the_security_headers(
    client: httpx2.AsyncClient, path: str
) -> None:
    headers = (await client.get(path)).headers

    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"


async def test_headers_of_a_response_stay_as_they_are() -> None:
    own = [(b"set-cookie", b"a=1"), (b"set-cookie", b"b=2"), (b"cache-control", b"max-age=60")]

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": own})
        await send({"type": "http.response.body", "body": b""})

    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=SecurityHeaders(app)), base_url="http://localhost"
    ) as client:
        headers = (await client.get("/")).headers

    assert headers.get_list("set-cookie") == ["a=1", "b=2"]
    assert headers.get_list("cache-control") == ["max-age=60"]
    assert headers["x-frame-options"] == "DENY"


async def test_no_other_site_is_let_in(client: httpx2.AsyncClient) -> None:
    asked = await client.options(
        "/execute",
        headers={"origin": "http://localhost:3000", "access-control-request-method": "POST"},
    )
    read = await client.get("/tools", headers={"origin": "http://localhost:3000"})

    names = {*asked.headers, *read.headers}
    assert {name for name in names if name.startswith("access-control")} == set()


async def test_what_nobody_foresaw_is_a_500_with_an_id_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError("password=hunter2")

    transport = httpx2.ASGITransport(app=SecurityHeaders(broken))
    with caplog.at_level(logging.ERROR, "pegboard.http"):
        async with httpx2.AsyncClient(transport=transport, base_url=LOOPBACK) as client:
            answer = await client.get("/x")

    body = answer.json()
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert body["code"] == "internal"
    assert "hunter2" not in answer.text
    assert body["error_id"] in caplog.text
    assert "hunter2" in caplog.text


async def test_an_answer_that_has_begun_is_not_begun_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("too late")

    sent: list[Message] = []

    async def keep(message: Message) -> None:
        sent.append(message)

    scope: Scope = {"type": "http", "method": "GET", "path": "/x", "headers": []}
    with caplog.at_level(logging.ERROR, "pegboard.http"):
        await SecurityHeaders(broken)(scope, _never, keep)

    assert [message["type"] for message in sent] == ["http.response.start"]
    assert "too late" in caplog.text


async def cut_off_error(method: str, *messages: Message, has_begun: bool = False) -> list[Message]:
    """What a client is told whose request is being answered when the server ends."""
    coming, sent = list(messages), list[Message]()
    reading = asyncio.Event()

    async def receive() -> Message:
        if coming:
            return coming.pop(0)
        reading.set()
        return await asyncio.sleep(60, {"type": "http.disconnect"})

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if has_begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        while messages:
            await receive()
        reading.set()
        await asyncio.sleep(60)

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {"type": "http", "method": method, "path": "/x", "headers": []}
    serving = asyncio.create_task(SecurityHeaders(app)(scope, receive, send))
    await reading.wait()
    serving.cancel()
    await asyncio.wait((serving,))
    assert serving.cancelled()
    return sent


def part(*, more: bool) -> Message:
    return {"type": "http.request", "body": b"{", "more_body": more}


@pytest.mark.parametrize(
    ("method", "messages", "retryable"),
    [
        ("GET", (), True),
        ("GET", (part(more=False),), True),
        ("POST", (part(more=True),), True),
        ("POST", (part(more=True), part(more=False)), False),
        ("POST", (), False),
        ("DELETE", (), False),
    ],
    ids=["read", "read with a body", "half a body", "a body", "no body", "delete"],
)
async def test_the_end_of_the_server_says_whether_a_request_may_be_made_again(
    method: str, messages: tuple[Message, ...], retryable: bool
) -> None:
    start, body = await cut_off_error(method, *messages)

    headers, told = Headers(raw=start["headers"]), json.loads(body["body"])
    assert (start["status"], told["code"], told["retryable"]) == (503, "unavailable", retryable)
    assert headers.get("retry-after") == ("1" if retryable else None)


async def test_the_end_of_the_server_begins_no_answer_twice() -> None:
    sent = await cut_off_error("POST", part(more=False), has_begun=True)

    assert [message["type"] for message in sent] == ["http.response.start"]


async def test_what_is_not_http_passes_through() -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    await SecurityHeaders(app)({"type": "lifespan"}, _never, _never)

    assert seen == ["lifespan"]


async def _never(*_: object) -> Any:
    raise AssertionError("nobody asks for this")
