"""Two requests with one id, and requests whose session ends before they are answered."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.types import Message, Receive, Scope, Send
from tests.servers.http.live import begun, live, live_settings, patient
from tests.servers.http.test_mcp_endpoint import HEADERS, INITIALIZE

from pegboard.runtime import Pegboard
from pegboard.servers.http import create_app
from pegboard.servers.mcp.http import request_ids
from pegboard.servers.mcp.http.request_ids import EnsureResponse, RequestIdGuard
from pegboard.servers.mcp.protocol_errors import DUPLICATE_ID

STREAM = [(b"content-type", b"text/event-stream; charset=utf-8")]
CALL = {
    "jsonrpc": "2.0",
    "id": "seven",
    "method": "tools/call",
    "params": {"name": "my__linger", "arguments": {}},
}


def body_of(number: Any, **fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping", **fields}).encode()


class Slow:
    """An application that answers when it is told to, and keeps what it was sent."""

    def __init__(self) -> None:
        self.release = asyncio.Event()
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        self.bodies.append(message.get("body", b"gone"))
        await self.release.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})


async def asked(
    door: RequestIdGuard, body: bytes, *, owner: str = "ada", session: str = "s"
) -> list[Message]:
    """What comes back for a request with this body."""
    sent: list[Message] = []
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http"}
    await door.handle(scope, receive, send, body=body, owner=owner, session=session)
    return sent


async def both(
    first: bytes, second: bytes, *, is_refused: bool = False, **given: Any
) -> tuple[list[Message], list[Message]]:
    """What comes back for two, of which the first is not answered before the second has come."""
    app = Slow()
    door = RequestIdGuard(app)
    one = asyncio.create_task(asked(door, first))
    await asyncio.sleep(0)
    two = asyncio.create_task(asked(door, second, **given))
    if is_refused:
        await two
    else:
        await asyncio.sleep(0.01)
    app.release.set()
    return await one, await two


@pytest.mark.parametrize("second", [7, "7"])
async def test_the_second_of_two_is_refused_under_its_own_id(second: Any) -> None:
    answered, refused = await both(body_of(7), body_of(second), is_refused=True)

    assert [item["status"] for item in answered] == [200]
    assert refused[0]["status"] == 400
    told = json.loads(refused[1]["body"])
    assert told == {
        "jsonrpc": "2.0",
        "id": second,
        "error": {"code": -32600, "message": DUPLICATE_ID},
    }


@pytest.mark.parametrize(
    ("second", "given"),
    [
        (body_of(8), {}),
        (body_of(7), {"session": "other"}),
        (body_of(7), {"owner": "eve"}),
        (json.dumps({"jsonrpc": "2.0", "id": 7, "result": {}}).encode(), {}),
        (json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode(), {}),
    ],
    ids=["another id", "another session", "another caller", "answer", "notification"],
)
async def test_all_else_passes_as_it_is(second: bytes, given: dict[str, Any]) -> None:
    answered, passed = await both(body_of(7), second, **given)

    assert [item["status"] for item in (*answered, *passed)] == [200, 200]


@pytest.mark.parametrize(
    ("second", "code"),
    [
        (body_of(True), -32600),
        (body_of([7]), -32600),
        (body_of(None), -32600),
        (body_of(7.0), -32600),
        (b"3", -32600),
        (b"[]", -32600),
        (b"no json", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32600),
        (b"", -32700),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": NaN}}', -32700),
    ],
    ids=[
        *("true", "list", "null", "fraction", "number", "batch"),
        *("text", "bytes", "deep", "nothing", "not a number"),
    ],
)
async def test_a_body_whose_id_cannot_be_read_is_refused(second: bytes, code: int) -> None:
    answered, refused = await both(body_of(7), second, is_refused=True)

    assert [item["status"] for item in (*answered, refused[0])] == [200, 400]
    told = json.loads(refused[1]["body"])
    assert (told["id"], told["error"]["code"]) == (None, code)


async def test_who_uses_an_id_again_as_soon_as_the_answer_is_read_is_not_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(request_ids, "_RELEASE_TIMEOUT", 60.0)
    answered, later = await both(body_of(7), body_of(7))

    assert [item["status"] for item in (*answered, *later)] == [200, 200]


async def test_an_id_is_free_again_once_its_request_is_answered() -> None:
    app = Slow()
    app.release.set()
    door = RequestIdGuard(app)

    for _ in range(2):
        sent = await asked(door, body_of(7))
        assert sent[0]["status"] == 200

    assert app.bodies == [body_of(7)] * 2


def event(**message: Any) -> bytes:
    return f"event: message\r\ndata: {json.dumps(message)}\r\n\r\n".encode()


def response_in(text: str) -> dict[str, Any]:
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

    told = response_in(sent[-1]["body"].decode())
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
        told = response_in((await call).text)

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
        told = response_in((await call).text)

    assert (told["id"], told["error"]["data"]["retryable"]) == ("seven", False)
