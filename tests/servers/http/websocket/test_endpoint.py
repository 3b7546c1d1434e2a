import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from pydantic import SecretStr
from starlette.types import Message
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.websocket.sockets import connected, served
from websockets.exceptions import InvalidStatus

from pegboard import Pegboard
from pegboard.servers.http import create_app
from pegboard.servers.http.websocket.endpoint import WebSocketEndpoint


async def refused(url: str, **options: Any) -> tuple[int, str]:
    """With which status and code a handshake is refused."""
    with pytest.raises(InvalidStatus) as raised:
        async with connected(url, **options):
            pass
    response = raised.value.response
    assert response.headers["content-type"] == "application/problem+json"
    assert response.body is not None
    return response.status_code, json.loads(bytes(response.body))["code"]


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncGenerator[str]:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board, served(board) as url:
        yield url


@pytest.fixture
async def local(board: Pegboard) -> AsyncGenerator[str]:
    async with served(board) as url:
        yield url


@pytest.mark.parametrize("path", ["/ws", "/v1/ws"])
async def test_it_stands_at_both_paths(local: str, path: str) -> None:
    async with connected(local, path) as client:
        assert (await client.call("add", a=1, b=2))["body"]["output"] == 3


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="none"),
        pytest.param({"Authorization": f"Bearer {TOKEN}x"}, id="another"),
        pytest.param({"Authorization": TOKEN}, id="no scheme"),
        pytest.param({"Cookie": f"token={TOKEN}"}, id="a cookie"),
    ],
)
async def test_without_the_token_nobody_connects(guarded: str, headers: dict[str, str]) -> None:
    assert await refused(guarded, additional_headers=headers) == (401, "unauthenticated")


async def test_a_refused_connection_is_no_error_of_the_server(
    guarded: str, caplog: pytest.LogCaptureFixture
) -> None:
    await refused(guarded)
    await refused(guarded)  # by now the server has logged what it logs about the first one

    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_token_in_the_address_is_none(guarded: str) -> None:
    assert await refused(guarded, path=f"/ws?token={quote(TOKEN)}") == (401, "unauthenticated")


async def test_with_the_token_calls_are_those_of_its_holder(guarded: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with connected(guarded, additional_headers=headers) as client:
        assert (await client.call("add", a=1, b=2))["body"]["output"] == 3


@pytest.mark.parametrize(
    ("origin", "code"),
    [
        pytest.param("https://evil.example", "host_not_allowed", id="another site"),
        pytest.param("http://127.0.0.1.evil.example", "host_not_allowed", id="a name like ours"),
        pytest.param("null", "host_not_allowed", id="a sandboxed page"),
        pytest.param("http://localhost:3000", "origin_not_allowed", id="another port"),
        pytest.param("http://127.0.0.1:1", "origin_not_allowed", id="another port by address"),
        pytest.param("file://", "host_not_allowed", id="a file"),
    ],
)
async def test_a_page_of_another_origin_does_not_connect(
    local: str, origin: str, code: str
) -> None:
    assert await refused(local, origin=origin) == (403, code)


async def test_a_page_of_the_server_itself_connects(local: str) -> None:
    async with connected(local, origin=local) as client:
        assert (await client.ask("ping"))["type"] == "pong"


async def test_a_name_that_leads_here_and_is_not_ours_is_refused(local: str) -> None:
    port = local.rpartition(":")[2]
    url = f"http://pegboard.evil.example:{port}"
    answer = await refused(url, host="127.0.0.1", port=int(port))

    assert answer == (403, "host_not_allowed")


async def test_probes_are_no_way_around_the_gate(guarded: str) -> None:
    assert await refused(guarded, path="/healthz") == (401, "unauthenticated")


async def test_without_an_upgrade_it_says_what_it_speaks(board: Pegboard) -> None:
    transport = httpx2.ASGITransport(app=create_app(board))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        answer = await client.get("/ws")

    assert (answer.status_code, answer.headers["upgrade"]) == (426, "websocket")
    assert answer.json()["code"] == "websocket_needed"


async def test_more_connections_than_are_served_are_told_to_come_later(board: Pegboard) -> None:
    async with served(board, most=1) as url, connected(url) as client:
        assert await refused(url) == (503, "overloaded")
        assert (await client.ask("ping"))["type"] == "pong"


async def test_a_connection_that_ends_makes_room(board: Pegboard) -> None:
    async with served(board, most=1) as url:
        for _ in range(3):
            async with connected(url) as client:
                assert (await client.ask("ping"))["type"] == "pong"


async def asgi(board: Pegboard, *, first: str = "websocket.connect", **scope: Any) -> list[Any]:
    """What the application sends to a server that can answer a handshake with a code alone."""
    sent: list[Any] = []
    inbox: list[Message] = [{"type": first}, {"type": "websocket.disconnect", "code": 1000}]

    async def receive() -> Message:
        return inbox.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost")]
    whole = {"type": "websocket", "path": "/ws", "headers": headers, "state": {}, **scope}
    await create_app(board)(whole, receive, send)
    return sent


async def test_a_server_that_can_say_no_more_is_given_a_code(board: Pegboard) -> None:
    headers = [(b"host", b"evil.example")]

    assert await asgi(board, headers=headers) == [{"type": "websocket.close", "code": 1008}]


async def test_a_board_that_is_not_open_takes_no_connection(board: Pegboard) -> None:
    await board.close()

    assert await asgi(board) == [{"type": "websocket.close", "code": 1013}]


async def test_a_client_that_is_gone_at_once_is_no_error(board: Pegboard) -> None:
    assert await asgi(board) == [{"type": "websocket.accept"}]


async def test_a_server_that_breaks_the_protocol_is_told_so(
    board: Pegboard, caplog: pytest.LogCaptureFixture
) -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        if sent:
            raise RuntimeError("broken")
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    door = WebSocketEndpoint(board)
    state = {"principal": None}
    await door({"type": "websocket", "headers": [], "state": state}, receive, send)

    assert sent[-1] == {"type": "websocket.close", "code": 1011}
    assert "ws: serving a connection failed" in caplog.text
