"""A request over HTTP has an answer, also where its session ends before it."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.types import Message
from tests.servers.http.live import begun, live, live_settings, patient
from tests.servers.http.test_mcp_endpoint import HEADERS, INITIALIZE

from pegboard.runtime import Pegboard
from pegboard.servers.http import create_app
from pegboard.servers.mcp.http.missing_response import EnsureResponse

STREAM = [(b"content-type", b"text/event-stream; charset=utf-8")]
CALL = {
    "jsonrpc": "2.0",
    "id": "seven",
    "method": "tools/call",
    "params": {"name": "my__linger", "arguments": {}},
}


def event(**message: Any) -> bytes:
    return f"event: message\r\ndata: {json.dumps(message)}\r\n\r\n".encode()


def answer_in(text: str) -> dict[str, Any]:
    """The one message of a stream."""
    (line,) = [line for line in text.splitlines() if line.startswith("data: ")]
    found: dict[str, Any] = json.loads(line.removeprefix("data: "))
    return found


async def passed(
    *pieces: bytes, headers: Sequence[tuple[bytes, bytes]] = STREAM, is_ended: bool = True
) -> list[Message]:
    """The pieces of an answer, as a client gets them."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    way = EnsureResponse(send, 7)
    await way.send({"type": "http.response.start", "status": 200, "headers": list(headers)})
    for number, piece in enumerate(pieces, start=1):
        more = not is_ended or number < len(pieces)
        await way.send({"type": "http.response.body", "body": piece, "more_body": more})
    await way.end()
    return sent[1:]


@pytest.mark.parametrize("is_ended", [True, False])
@pytest.mark.parametrize(
    "pieces",
    [(b"",), (b": ping\r\n\r\n", b""), (event(method="notifications/progress", id=None), b"")],
    ids=["nothing", "pings", "progress"],
)
async def test_a_stream_that_ends_without_an_answer_gets_one(
    pieces: tuple[bytes, ...], is_ended: bool
) -> None:
    sent = await passed(*pieces, is_ended=is_ended)

    told = answer_in(sent[-1]["body"].decode())
    assert [message["more_body"] for message in sent].count(False) == 1
    assert (told["id"], told["error"]["code"]) == (7, -32603)
    assert (told["error"]["data"]["code"], told["error"]["data"]["retryable"]) == (
        "unavailable",
        False,
    )


@pytest.mark.parametrize(
    ("pieces", "headers"),
    [
        ((event(id=7, result={"method": "x"}), b""), STREAM),
        ((event(id=7, error={"code": 1}),), STREAM),
        ((event(method="ping"), event(id=7, result={}), b": ping\r\n\r\n"), STREAM),
        ((b"data: no json\r\n\r\n", b""), STREAM),
        ((b'{"id": 7}',), [(b"content-type", b"application/json")]),
        ((b"",), []),
    ],
    ids=["result", "error", "asked before", "something else", "json", "no body"],
)
async def test_an_answer_passes_as_it_is(
    pieces: tuple[bytes, ...], headers: list[tuple[bytes, bytes]]
) -> None:
    sent = await passed(*pieces, headers=headers)

    assert [message["body"] for message in sent] == list(pieces)


async def calling(http: httpx2.AsyncClient, url: str, folder: Path) -> Any:
    """A call that runs, and what names its session."""
    opened = await http.post(f"{url}/mcp", json=INITIALIZE)
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
    call = asyncio.create_task(http.post(f"{url}/mcp", json=CALL, headers=session))
    await begun(folder)
    return call, session


async def test_who_ends_a_session_while_a_call_runs_is_told_so(tmp_path: Path) -> None:
    async with live(live_settings(tmp_path)) as url, patient(headers=HEADERS) as http:
        call, session = await calling(http, url, tmp_path)
        ended = await http.delete(f"{url}/mcp", headers=session)
        told = answer_in((await call).text)

    assert ended.status_code == 200
    assert told["id"] == "seven"
    assert "before the request was answered" in told["error"]["message"]


@pytest.mark.timeout(60)
async def test_the_end_of_the_server_is_told_to_a_call_that_runs(tmp_path: Path) -> None:
    app = create_app(Pegboard(settings=live_settings(tmp_path)))
    transport = httpx2.ASGITransport(app=app)
    url = "http://127.0.0.1"
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, headers=HEADERS) as http,
    ):
        call, _ = await calling(http, url, tmp_path)
        await app.state.mcp.close(grace=0)
        told = answer_in((await call).text)

    assert (told["id"], told["error"]["data"]["retryable"]) == ("seven", False)
