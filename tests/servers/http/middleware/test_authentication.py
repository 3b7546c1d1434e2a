from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from starlette.types import Message, Receive, Scope, Send
from tests.servers.http.made import LOOPBACK, TOKEN, a_board, client_of

from pegboard.errors import ConfigError
from pegboard.runtime import Pegboard, Settings
from pegboard.servers.http.middleware.authentication import (
    AuthenticationMiddleware,
    AuthenticationSettings,
    authentication_settings,
)

PATHS = ["/tools", "/tools/add", "/history", "/sources", "/metrics", "/openapi.json", "/nothing"]
PROBES = ["/healthz", "/readyz", "/v1/healthz", "/v1/readyz"]


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncGenerator[Pegboard]:
    async with a_board(tmp_path, token=SecretStr(TOKEN), host="0.0.0.0") as board:
        yield board


@pytest.mark.parametrize("path", [*PATHS, *(f"/v1{path}" for path in PATHS)])
async def test_without_the_token_every_path_is_closed(guarded: Pegboard, path: str) -> None:
    async with client_of(guarded) as client:
        answer = await client.get(path)

    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["www-authenticate"] == 'Bearer realm="pegboard"'
    assert answer.json()["code"] == "unauthenticated"


@pytest.mark.parametrize("path", PROBES)
async def test_probes_need_no_token(guarded: Pegboard, path: str) -> None:
    async with client_of(guarded, base_url="http://pegboard.example") as client:
        assert (await client.get(path)).status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(TOKEN, id="no scheme"),
        pytest.param("Bearer", id="no token"),
        pytest.param("Bearer ", id="an empty token"),
        pytest.param(f"Basic {TOKEN}", id="another scheme"),
        pytest.param(f"Bearer {TOKEN}x", id="longer"),
        pytest.param(f"Bearer {TOKEN[:-1]}", id="shorter"),
        pytest.param(f"Bearer {TOKEN.upper()}", id="capitals"),
        pytest.param(f"Bearer {TOKEN}, Bearer {TOKEN}", id="twice"),
    ],
)
async def test_what_is_not_the_token_opens_nothing(guarded: Pegboard, sent: str) -> None:
    async with client_of(guarded, authorization=sent) as client:
        answer = await client.get("/tools")

    assert answer.status_code == 401


async def test_a_wrong_token_is_told_apart_from_none(guarded: Pegboard) -> None:
    async with client_of(guarded, authorization="Bearer guessed") as client:
        answer = await client.get("/tools")

    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert "guessed" not in answer.json()["detail"]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_the_token_opens_everything_under_any_name(guarded: Pegboard, scheme: str) -> None:
    async with client_of(
        guarded, base_url="http://pegboard.example", authorization=f"{scheme} {TOKEN}"
    ) as client:
        answers = [(await client.get(path)).status_code for path in PATHS]

    assert answers == [200, 200, 200, 200, 200, 200, 404]


async def test_a_token_beyond_ascii_works(tmp_path: Path) -> None:
    token = "pässwörd"
    async with client_of(a_board(tmp_path, token=SecretStr(token))) as client:
        sent = b"Bearer " + token.encode()
        answer = await client.get("/tools", headers=[(b"authorization", sent)])

    assert answer.status_code == 200


async def test_a_call_with_the_token_is_made_by_local(guarded: Pegboard) -> None:
    async with client_of(guarded, authorization=f"Bearer {TOKEN}") as client:
        await client.post("/execute", json={"name": "add", "input": {"a": 1}})
        calls = (await client.get("/history")).json()["calls"]

    assert [call["principal"] for call in calls] == ["local"]


async def test_results_of_the_local_user_are_read_with_the_token(
    guarded: Pegboard,
) -> None:
    meta = (await guarded.call("long_list")).meta
    handle = meta.handle.removeprefix("pegboard://results/")

    async with client_of(guarded, authorization=f"Bearer {TOKEN}") as client:
        answer = await client.get(f"/results/{handle}")

    assert answer.status_code == 200
    assert answer.json()["handle"] == meta.handle


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1:8321",
        "127.8.9.10",
        "localhost",
        "LOCALHOST:1",
        "[::1]",
        "[::1]:8321",
    ],
)
async def test_a_server_without_a_token_answers_under_local_names(
    client: httpx2.AsyncClient, host: str
) -> None:
    assert (await client.get("/tools", headers={"host": host})).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8321",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "0.0.0.0",
        "[::2]",
        "",
        "127.1",
    ],
)
async def test_a_server_without_a_token_answers_under_no_other_name(
    client: httpx2.AsyncClient, host: str
) -> None:
    answer = await client.get("/tools", headers={"host": host})

    assert (answer.status_code, answer.json()["code"]) == (403, "host_not_allowed")


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example"]
)
async def test_a_page_of_another_site_may_not_even_ask(
    client: httpx2.AsyncClient, origin: str
) -> None:
    answer = await client.get("/tools", headers={"origin": origin})

    assert (answer.status_code, answer.json()["code"]) == (403, "host_not_allowed")


@pytest.mark.parametrize("origin", [LOOPBACK, "http://localhost:8321", "http://[::1]:8321"])
async def test_a_local_page_may_ask(client: httpx2.AsyncClient, origin: str) -> None:
    assert (await client.get("/tools", headers={"origin": origin})).status_code == 200


async def test_a_probe_may_come_under_any_name_and_learns_less(tmp_path: Path) -> None:
    text = "sources: [{kind: functions, name: gone, config: {modules: [there_is_none]}}]"
    async with client_of(a_board(tmp_path, text=text)) as client:
        local = (await client.get("/readyz")).json()
        other = (await client.get("/readyz", headers={"host": "evil.example"})).json()

    assert "there_is_none" in local["sources"][0]["reason"]
    assert other == {"status": "degraded", "counts": {"failed": 1}}


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("127.0.0.1", {"127.0.0.1"}),
        ("Board.Local", {"board.local"}),
        ("0.0.0.0", set()),
        ("", set()),
    ],
)
def test_the_name_that_the_operator_gave_is_a_local_one(host: str, names: set[str]) -> None:
    assert authentication_settings(Settings(host=host)).hosts == names


@pytest.mark.parametrize("token", ["", "   "])
def test_an_empty_token_is_a_mistake(token: str) -> None:
    with pytest.raises(ConfigError, match="PEGBOARD_TOKEN is empty"):
        authentication_settings(Settings(token=SecretStr(token)))


def test_the_token_is_not_shown(tmp_path: Path) -> None:
    board = a_board(tmp_path, token=SecretStr(TOKEN))

    assert TOKEN not in repr(authentication_settings(board.settings))


@pytest.mark.parametrize(("sent", "let_in"), [(b"", False), (f"Bearer {TOKEN}".encode(), True)])
async def test_a_web_socket_needs_the_token_too(sent: bytes, let_in: bool) -> None:
    seen: list[str] = []
    answers: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    async def receive() -> Message:
        raise AssertionError("nobody asks for this")

    async def send(message: Message) -> None:
        answers.append(message)

    gate = AuthenticationMiddleware(app, AuthenticationSettings(token=TOKEN))
    scope: Scope = {"type": "websocket", "path": "/ws", "headers": [(b"authorization", sent)]}
    await gate(scope, receive, send)
    await gate({"type": "lifespan"}, receive, send)

    assert seen == (["websocket", "lifespan"] if let_in else ["lifespan"])
    assert answers == ([] if let_in else [{"type": "websocket.close", "code": 1008}])


@pytest.mark.parametrize(
    ("path", "query"), [("/tools", b"ticket=abc"), ("/ws", b""), ("/v1/ws", b"")]
)
async def test_a_ticket_is_taken_out_of_the_address_of_the_socket_alone(
    path: str, query: bytes
) -> None:
    seen: list[bytes] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["query_string"])

    async def unused(*_: object) -> Any:
        raise AssertionError("nothing is received or sent")

    headers = [(b"host", b"localhost")]
    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "headers": headers,
        "query_string": b"ticket=abc",
    }
    await AuthenticationMiddleware(app, AuthenticationSettings(token=None))(scope, unused, unused)

    assert seen == [query]


@pytest.mark.parametrize("token", [None, TOKEN], ids=["no token", "a token"])
@pytest.mark.parametrize(
    ("sent", "caller"), [("start", "local"), ("start2", None), ("", None)], ids=str
)
async def test_the_start_token_is_the_local_user_under_any_name(
    token: str | None, sent: str, caller: str | None
) -> None:
    found: list[str | None] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        found.append(scope["state"]["principal"].id)

    async def ignore(_message: Message) -> None:
        pass

    settings = AuthenticationSettings(token=token, start_token="start")
    headers = [(b"host", b"pegboard.example"), (b"authorization", f"Bearer {sent}".encode())]
    scope = {"type": "http", "path": "/tools", "headers": headers, "method": "GET"}
    door = AuthenticationMiddleware(app, settings)
    await door(scope, Receive, ignore)  # pyright: ignore[reportArgumentType]  # it reads no body

    assert found == ([] if caller is None else [caller])
