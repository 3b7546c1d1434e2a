"""Credentials over HTTP: whose a call sends, who is refused, and that no value comes out."""

import json
import logging
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.routing import APIRoute
from pydantic import SecretStr
from tests.network.loopback import Server
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House
from tests.servers.http.taking import TOKEN_OF_ADA, TOKEN_OF_BOB, board_text, repeating_api

from pegboard.core.event import Event
from pegboard.runtime import Pegboard
from pegboard.servers.http.routes.accounts.credentials import router
from pegboard.testing import ScriptedModel, Turn


class Heard:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_event(self, event: Event) -> None:
        self.events.append(event)


@pytest.fixture
async def api() -> AsyncGenerator[Server]:
    async with repeating_api() as server:
        yield server


@pytest.fixture
async def board(tmp_path: Path, api: Server) -> AsyncGenerator[Pegboard]:
    text = board_text(api)
    settings: dict[str, Any] = {"token": SecretStr(TOKEN), "data": tmp_path / "data"}
    async with a_board(tmp_path, text=text, tools=(), **settings) as opened:
        opened.credentials.connections.serve()
        yield opened


@pytest.fixture
def house(board: Pegboard) -> House:
    return House(board)


async def people(house: House) -> tuple[httpx2.AsyncClient, httpx2.AsyncClient]:
    ada = await house.found()
    return ada, await house.invite(ada, "editor")


async def call(browser: httpx2.AsyncClient, tool: str = "github__whoami") -> httpx2.Response:
    return await browser.post("/v1/execute", json={"name": tool, "input": {}})


def sent(api: Server) -> list[str]:
    return [item.headers.get("authorization", "") for item in api.requests]


async def test_a_call_sends_the_credential_of_its_caller_and_the_record_names_it(
    house: House, board: Pegboard, api: Server
) -> None:
    _ada, bob = await people(house)

    wanted = {"source": "github", "kind": "bearer", "value": TOKEN_OF_BOB, "name": "work"}
    added = await bob.post("/v1/credentials", json=wanted)
    answer = await call(bob)
    await board.flush()
    calls = (await bob.get("/v1/history")).json()["calls"]
    sources = (await bob.get("/v1/sources")).json()["sources"]

    about = added.json()
    assert added.status_code == 201, added.text
    assert (about["source"], about["kind"], about["name"], about["is_default"]) == (
        "github",
        "bearer",
        "work",
        True,
    )
    assert sent(api) == [f"Bearer {TOKEN_OF_BOB}"]
    assert answer.json()["output"] == {"sent": "Bearer [redacted]", "path": "/whoami"}
    assert [item["credential"] for item in calls] == [f"github/work of {about['owner']}"]
    assert answer.json()["metadata"]["account"] == f"github/work of {about['owner']}"
    assert {item["name"]: item["takes_accounts"] for item in sources}["github"] is True


async def test_an_answer_names_the_account_of_its_calls(tmp_path: Path, api: Server) -> None:
    model = ScriptedModel(Turn(calls=(("github__whoami", {}),)), Turn(text="done"))
    settings: dict[str, Any] = {"token": SecretStr(TOKEN), "data": tmp_path / "data"}
    text = board_text(api)
    async with a_board(tmp_path, text=text, tools=(), model_given=model, **settings) as board:
        board.credentials.connections.serve()
        _ada, bob = await people(House(board))
        wanted = {"source": "github", "kind": "bearer", "value": TOKEN_OF_BOB, "name": "work"}
        about = (await bob.post("/v1/credentials", json=wanted)).json()
        events = (await bob.post("/v1/chat", json={"message": "Who am I?"})).text

    lines = (line.removeprefix("data: ") for line in events.splitlines() if line[:6] == "data: ")
    [account] = [event["account"] for event in map(json.loads, lines) if "account" in event]
    assert account == f"github/work of {about['owner']}"


async def test_a_call_names_the_account_that_it_acts_with(
    house: House, board: Pegboard, api: Server
) -> None:
    ada, _bob = await people(house)
    for name, value in (("work", TOKEN_OF_ADA), ("home", TOKEN_OF_BOB)):
        wanted = {"source": "github", "kind": "bearer", "value": value, "name": name}
        await ada.post("/v1/credentials", json=wanted)

    async def call_as(account: str, **more: Any) -> httpx2.Response:
        body = {"name": "github__whoami", "execution_config": {"account": account}, **more}
        return await ada.post("/v1/execute", json=body)

    await call_as("home")
    await call_as("")
    unknown = await call_as("other")
    behind = await call_as("home", in_background=True)
    await board.flush()
    calls = (await ada.get("/v1/history?tool=github__whoami")).json()["calls"]

    assert sent(api) == [f"Bearer {TOKEN_OF_BOB}", f"Bearer {TOKEN_OF_ADA}"]
    assert [item["credential"].partition(" of ")[0] for item in calls[-2:]] == [
        "github/work",
        "github/home",
    ]
    assert unknown.json()["code"] == "credential_missing"
    assert behind.status_code == 422


async def test_an_approver_reads_whose_account_a_call_acts_with(
    tmp_path: Path, api: Server
) -> None:
    text = board_text(api, policy={"ask": ["github__*"]})
    settings: dict[str, Any] = {"token": SecretStr(TOKEN), "data": tmp_path / "data"}
    async with a_board(tmp_path, text=text, tools=(), **settings) as board:
        board.credentials.connections.serve()
        ada, _bob = await people(House(board))
        for name in ("work", "home"):
            wanted = {"source": "github", "kind": "bearer", "value": TOKEN_OF_ADA, "name": name}
            await ada.post("/v1/credentials", json=wanted)
        body = {"name": "github__whoami", "execution_config": {"account": "home"}}
        await ada.post("/v1/execute", json=body)
        (asked,) = (await ada.get("/v1/approvals")).json()["approvals"]

    assert asked["reason"].endswith(", with the account github/home of ada")


async def test_another_caller_is_refused_and_nothing_is_sent(house: House, api: Server) -> None:
    ada, bob = await people(house)
    wanted = {"source": "github", "kind": "bearer", "value": TOKEN_OF_BOB}
    assert (await bob.post("/v1/credentials", json=wanted)).status_code == 201

    refused = await call(ada)

    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (409, "credential_missing")
    assert "no credential for 'github'" in problem["detail"]
    assert problem["approval_id"].startswith("ap_")
    assert sent(api) == []


async def test_a_shared_credential_is_used_by_callers_who_have_none(
    house: House, api: Server
) -> None:
    ada, bob = await people(house)
    wanted = {"source": "github", "kind": "bearer", "value": TOKEN_OF_ADA, "shared": True}

    forbidden = await bob.post("/v1/credentials", json=wanted)
    await ada.post("/v1/credentials", json=wanted)
    shared = await call(bob)
    await bob.post(
        "/v1/credentials", json={"source": "github", "kind": "bearer", "value": TOKEN_OF_BOB}
    )
    own = await call(bob)

    assert (forbidden.status_code, forbidden.json()["code"]) == (403, "access_denied")
    assert (shared.status_code, own.status_code) == (200, 200)
    assert sent(api) == [f"Bearer {TOKEN_OF_ADA}", f"Bearer {TOKEN_OF_BOB}"]


async def test_no_file_log_event_or_answer_has_a_secret(
    house: House,
    board: Pegboard,
    api: Server,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    heard = Heard()
    board.registry.environment.emitter.add(heard)
    _ada, bob = await people(house)
    answers: list[httpx2.Response] = []
    wanted = {"source": "github", "kind": "bearer", "value": TOKEN_OF_BOB}
    answers.append(await bob.post("/v1/credentials", json=wanted))
    path = f"/v1/credentials/{answers[0].json()['id']}"
    answers.append(await bob.patch(path, json={"value": TOKEN_OF_ADA, "name": "new"}))
    answers.append(await bob.post("/v1/credentials", json=wanted | {"unknown": TOKEN_OF_BOB}))
    answers.append(await call(bob))
    answers += [await bob.get(place) for place in ("/v1/credentials", "/v1/history", "/v1/audit")]
    answers.append(await bob.delete(path))
    await board.flush()
    await board.close()

    assert sent(api) == [f"Bearer {TOKEN_OF_ADA}"]
    everything = [answer.content for answer in answers]
    everything += [item.read_bytes() for item in (tmp_path / "data").rglob("*") if item.is_file()]
    everything += [caplog.text.encode(), repr(heard.events).encode()]
    for secret in (TOKEN_OF_ADA, TOKEN_OF_BOB):
        assert [text for text in everything if secret.encode() in text] == []


async def test_only_its_owner_sees_changes_and_removes_a_credential(house: House) -> None:
    ada, bob = await people(house)
    wanted = {"source": "github", "kind": "bearer", "value": TOKEN_OF_BOB}
    path = f"/v1/credentials/{(await bob.post('/v1/credentials', json=wanted)).json()['id']}"

    refused = [await ada.patch(path, json={"name": "mine"}), await ada.delete(path)]
    seen = (await ada.get("/v1/credentials")).json()
    changed = await bob.patch(path, json={"name": "mine"})
    removed = await bob.delete(path)

    assert [(answer.status_code, answer.json()["code"]) for answer in refused] == [
        (404, "credential_not_found")
    ] * 2
    assert seen == {"credentials": []}
    assert (changed.json()["name"], removed.status_code) == ("mine", 200)
    assert (await call(bob)).json()["code"] == "credential_missing"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": "gone"}, "There is no source 'gone'"),
        ({"source": "weather"}, "takes no credentials of its callers"),
        ({"kind": "api_key"}, "takes bearer, not api_key"),
        ({"value": "two\nlines"}, "line break"),
        ({"username": "bob"}, "has no username"),
        ({"name": "a/b"}, "without '/'"),
    ],
    ids=["no source", "no caller", "wrong kind", "line break", "username", "name"],
)
async def test_a_credential_that_cannot_be_sent_is_refused(
    house: House, change: dict[str, str], message: str
) -> None:
    wanted = {"source": "github", "kind": "bearer", "value": TOKEN_OF_ADA}

    async with house.client(bearer=TOKEN) as local:
        refused = await local.post("/v1/credentials", json=wanted | change)

    assert refused.status_code == 400
    assert message in refused.json()["detail"]


async def test_one_person_without_an_account_has_credentials_too(house: House, api: Server) -> None:
    async with house.client(bearer=TOKEN) as local:
        wanted = {"source": "github", "kind": "bearer", "value": TOKEN_OF_ADA}
        added = await local.post("/credentials", json=wanted)
        answer = await call(local)
    ada = await house.found()
    later = await call(ada)

    assert added.json()["owner"] == "local"
    assert (answer.status_code, later.status_code) == (200, 200)
    assert sent(api) == [f"Bearer {TOKEN_OF_ADA}"] * 2


def test_there_is_no_route_that_gives_a_value() -> None:
    routes = [route for route in router.routes if isinstance(route, APIRoute)]

    assert {(method, route.path) for route in routes for method in route.methods or ()} == {
        ("GET", "/credentials"),
        ("POST", "/credentials"),
        ("POST", "/credentials/rotate"),
        ("PATCH", "/credentials/{credential}"),
        ("DELETE", "/credentials/{credential}"),
        ("POST", "/credentials/oauth/start"),
        ("GET", "/credentials/oauth/connect"),
        ("GET", "/credentials/oauth/client/{source}"),
        ("GET", "/credentials/oauth/callback"),
        ("GET", "/credentials/oauth/callback/{source}"),
    }
