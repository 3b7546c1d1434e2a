"""Two requests with one id: the second is told so, whatever the first does."""

import asyncio
import json
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from pegboard.servers.mcp.http import duplicate_ids
from pegboard.servers.mcp.http.duplicate_ids import TWICE, RequestIdGuard


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
    door: RequestIdGuard, *pieces: bytes, owner: str = "ada", session: str = "s", gone: bool = False
) -> list[Message]:
    """What comes back for a request whose body arrives in these pieces."""
    sent: list[Message] = []
    waiting: list[Message] = [
        {"type": "http.request", "body": piece, "more_body": gone or number < len(pieces)}
        for number, piece in enumerate(pieces, start=1)
    ]

    async def receive() -> Message:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await door.handle({"type": "http"}, receive, send, owner=owner, session=session)
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
    assert told == {"jsonrpc": "2.0", "id": second, "error": {"code": -32600, "message": TWICE}}


@pytest.mark.parametrize(
    ("second", "given"),
    [
        (body_of(8), {}),
        (body_of(7), {"session": "other"}),
        (body_of(7), {"owner": "eve"}),
        (json.dumps({"jsonrpc": "2.0", "id": 7, "result": {}}).encode(), {}),
        (json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode(), {}),
        (body_of(True), {}),
        (body_of([7]), {}),
        (b"no json", {}),
        (b"\xff\xfe", {}),
        (b"[" * 100_000, {}),
        (b"3", {}),
        (b"", {}),
    ],
    ids=[
        *("another id", "another session", "another caller", "answer", "notification", "true"),
        *("list", "text", "bytes", "deep", "number", "nothing"),
    ],
)
async def test_all_else_passes_as_it_is(second: bytes, given: dict[str, Any]) -> None:
    answered, passed = await both(body_of(7), second, **given)

    assert [item["status"] for item in (*answered, *passed)] == [200, 200]


async def test_who_uses_an_id_again_as_soon_as_the_answer_is_read_is_not_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(duplicate_ids, "_PATIENCE", 60.0)
    answered, later = await both(body_of(7), body_of(7))

    assert [item["status"] for item in (*answered, *later)] == [200, 200]


async def test_an_id_is_free_again_once_its_request_is_answered() -> None:
    app = Slow()
    app.release.set()
    door = RequestIdGuard(app)

    for _ in range(2):
        sent = await asked(door, body_of(7)[:9], body_of(7)[9:])
        assert sent[0]["status"] == 200

    assert app.bodies == [body_of(7)] * 2


async def test_a_client_that_leaves_in_the_middle_of_its_request_is_told_of_as_gone() -> None:
    app = Slow()
    app.release.set()

    await asked(RequestIdGuard(app), body_of(7)[:9], gone=True)

    assert app.bodies == [b"gone"]
