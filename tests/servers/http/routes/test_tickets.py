"""Tickets over a server that really listens, with a client that sends no header of its own."""

import json
import logging
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.servers.http.live import patient
from tests.servers.http.made import TOKEN, a_board, client_of
from tests.servers.http.websocket.sockets import connected, served
from websockets.exceptions import InvalidStatus

from pegboard.features.identity.tickets import MAX_TICKETS

HEADERS = {"Authorization": f"Bearer {TOKEN}"}
PAGE = "https://board.example"


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncGenerator[str]:
    """The address of a server with a token."""
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board, served(board) as url:
        yield url


async def ticket_of(url: str, path: str = "/ws/tickets", **headers: str) -> str:
    async with patient(base_url=url, headers=HEADERS | headers) as client:
        answer = await client.post(path)
    assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
    assert answer.json()["expires_in"] == 30
    return answer.json()["ticket"]


async def called(url: str, path: str, **options: Any) -> object:
    """What a call over such a connection gives, or how its handshake is refused."""
    try:
        async with connected(url, path, **options) as client:
            return (await client.call("add", a=1, b=2))["body"]["output"]
    except InvalidStatus as refused:
        body = json.loads(bytes(refused.response.body or b""))
        return refused.response.status_code, body["code"]


@pytest.mark.parametrize("prefix", ["", "/v1"])
async def test_a_page_connects_with_a_ticket_and_no_header(guarded: str, prefix: str) -> None:
    ticket = await ticket_of(guarded, f"{prefix}/ws/tickets", Origin=PAGE)

    assert await called(guarded, f"{prefix}/ws?ticket={ticket}", origin=PAGE) == 3


async def test_calls_with_a_ticket_are_those_of_who_asked_for_it(tmp_path: Path) -> None:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board, served(board) as url:
        await called(url, f"/ws?ticket={await ticket_of(url)}")
        async with patient(base_url=url, headers=HEADERS) as client:
            calls = (await client.get("/history")).json()["calls"]

    assert [call["principal"] for call in calls] == ["local"]


async def test_a_ticket_is_good_once(guarded: str) -> None:
    path = f"/ws?ticket={await ticket_of(guarded)}"

    assert [await called(guarded, path) for _ in range(2)] == [3, (401, "unauthenticated")]


async def test_a_connection_lasts_longer_than_its_ticket(guarded: str) -> None:
    async with connected(guarded, f"/ws?ticket={await ticket_of(guarded)}") as client:
        assert await called(guarded, f"/ws?ticket={await ticket_of(guarded)}") == 3
        assert (await client.ask("ping"))["type"] == "pong"


@pytest.mark.parametrize("origin", ["https://evil.example", None])
async def test_a_ticket_of_a_page_is_no_good_for_another(guarded: str, origin: str | None) -> None:
    ticket = await ticket_of(guarded, Origin=PAGE)

    refused = await called(guarded, f"/ws?ticket={ticket}", origin=origin)

    assert refused == (401, "unauthenticated")


async def test_a_wrong_ticket_is_no_better_for_a_token_beside_it(guarded: str) -> None:
    refused = await called(guarded, "/ws?ticket=made-up", additional_headers=HEADERS)

    assert refused == (401, "unauthenticated")


async def test_a_ticket_opens_no_other_path(guarded: str) -> None:
    ticket = await ticket_of(guarded)
    async with patient(base_url=guarded) as client:
        asked = [
            (await client.request(method, path, params={"ticket": ticket})).status_code
            for method, path in (
                *(("GET", "/tools"), ("GET", "/ws"), ("POST", "/ws/tickets")),
                *(("POST", "/execute"), ("GET", "/metrics")),
            )
        ]

    assert asked == [401] * 5
    assert await called(guarded, f"/ws?ticket={ticket}") == 3


async def test_without_the_token_there_is_no_ticket(guarded: str) -> None:
    async with patient(base_url=guarded) as client:
        answer = await client.post("/ws/tickets")

    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


async def test_a_server_without_a_token_gives_tickets_and_asks_for_none(tmp_path: Path) -> None:
    async with a_board(tmp_path) as board, served(board) as url:
        path = f"/ws?ticket={await ticket_of(url, Origin=url)}"
        evil = "https://evil.example"

        answers = [
            await called(url, "/ws", origin=url),
            await called(url, path, origin=evil),
            await called(url, path, origin=url),
            await called(url, path, origin=url),
        ]

    assert answers == [3, (403, "host_not_allowed"), 3, (401, "unauthenticated")]


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_more_than_wait_to_be_used_are_told_to_come_later(tmp_path: Path) -> None:
    async with client_of(a_board(tmp_path)) as client:
        answers = [await client.post("/ws/tickets") for _ in range(MAX_TICKETS + 1)]

    assert {answer.status_code for answer in answers[:-1]} == {201}
    assert (answers[-1].status_code, answers[-1].json()["code"]) == (503, "overloaded")
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 30


async def test_no_log_tells_a_ticket_or_the_token(
    guarded: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "uvicorn.error")  # whatever other servers of the process said
    good = await ticket_of(guarded)
    bad = await ticket_of(guarded, Origin=PAGE)
    assert await called(guarded, f"/ws?ticket={good}") == 3
    assert await called(guarded, f"/ws?ticket={bad}") == (401, "unauthenticated")
    assert await called(guarded, "/ws", additional_headers=HEADERS) == 3

    said = [record.getMessage() for record in caplog.records if record.name.startswith("uvicorn")]
    assert any('"WebSocket /ws" [accepted]' in line for line in said)
    assert [line for line in said if good in line or bad in line or TOKEN in line] == []
