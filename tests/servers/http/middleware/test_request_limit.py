"""How many requests the server works on at once."""

import asyncio
from pathlib import Path

import httpx2
from starlette.types import Receive, Scope, Send
from tests.servers.http.made import a_board, client_of

from pegboard.servers.http.middleware.request_limit import RequestLimit


class Held:
    """An application that answers when the test lets it."""

    def __init__(self, media_type: bytes) -> None:
        self.media_type = media_type
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", self.media_type)]
        if self.media_type == b"text/event-stream":
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            self.begun.set()
            await self.may_end.wait()
        else:
            self.begun.set()
            await self.may_end.wait()
            await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"done"})


def client_for(app: RequestLimit) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=app)
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1")


async def test_a_request_too_many_is_refused_at_once_and_may_be_tried_again() -> None:
    held = Held(b"application/json")
    async with client_for(RequestLimit(held, 1)) as client, asyncio.TaskGroup() as group:
        first = group.create_task(client.post("/execute"))
        await held.begun.wait()
        second = await client.post("/execute")
        probe = group.create_task(client.get("/healthz"))
        held.may_end.set()
        await first
        third = group.create_task(client.post("/execute"))

    assert (first.result().status_code, second.status_code) == (200, 503)
    assert (second.headers["retry-after"], second.json()["code"]) == ("1", "overloaded")
    assert (probe.result().status_code, third.result().status_code) == (200, 200)


async def test_an_event_stream_does_not_count() -> None:
    held = Held(b"text/event-stream")
    async with client_for(RequestLimit(held, 1)) as client, asyncio.TaskGroup() as group:
        group.create_task(client.get("/runs/r1/events"))
        await held.begun.wait()
        held.may_end.set()
        second = await client.get("/tools")

    assert second.status_code == 200


async def test_the_bound_is_a_setting(tmp_path: Path) -> None:
    async with client_of(a_board(tmp_path, max_requests=1)) as client:
        answer = await client.get("/tools")

    assert answer.status_code == 200
