"""Accounts connected by consent, at an authorization server of somebody else's making."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from msgspec import structs
from pydantic import SecretStr
from tests.network.loopback import Received, Server, reply, serving
from tests.peers.oidc import OidcServer, started_oidc
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House
from tests.servers.http.taking import board_text, repeating_api

from pegboard.features.identity.secrets import digest_of
from pegboard.runtime import Pegboard
from pegboard.servers.http.browser_sessions import COOKIE as SESSION

START = "/v1/credentials/oauth/start"


@pytest.fixture(scope="module")
def oidc() -> Iterator[OidcServer]:
    with started_oidc() as server:
        yield server


@pytest.fixture
async def api() -> AsyncGenerator[Server]:
    async with repeating_api() as server:
        yield server


@pytest.fixture
async def board(tmp_path: Path, api: Server, oidc: OidcServer) -> AsyncGenerator[Pegboard]:
    text = board_text(api, auth={"kind": "caller", "oauth": oidc.oauth()})
    settings: dict[str, Any] = {"token": SecretStr(TOKEN), "data": tmp_path / "data"}
    async with a_board(tmp_path, text=text, tools=(), **settings) as opened:
        opened.credentials.connections.serve()
        yield opened


@pytest.fixture
async def house(board: Pegboard) -> House:
    return House(board)


async def call(browser: httpx2.AsyncClient, **config: str) -> httpx2.Response:
    wanted = {"name": "github__whoami", "input": {}, "execution_config": config}
    return await browser.post("/v1/execute", json=wanted)


@pytest.mark.slow
async def test_a_refused_call_gives_a_link_and_works_after_the_consent(
    house: House, api: Server, oidc: OidcServer
) -> None:
    ada = await house.found()

    refused = (await call(ada)).json()
    opened = await ada.get(refused["link"])
    back = await oidc.consent(opened.headers["location"])
    page = await ada.get(back)
    listed = (await ada.get("/v1/credentials")).json()["credentials"]
    approvals = (await ada.get("/v1/approvals")).json()["approvals"]
    answer = await call(ada)

    assert refused["code"] == "credential_missing"
    assert opened.status_code == 303
    assert parse_qs(urlsplit(opened.headers["location"]).query)["code_challenge_method"] == ["S256"]
    assert (page.status_code, "connected as octocat" in page.text) == (200, True)
    assert [(item["kind"], item["identity"], item["is_default"]) for item in listed] == [
        ("oauth2", "octocat", True)
    ]
    assert [(item["kind"], item["source"], item["state"]) for item in approvals] == [
        ("connection", "github", "approved")
    ]
    assert answer.json()["output"] == {"sent": "Bearer [redacted]", "path": "/whoami"}
    assert api.requests[0].headers["authorization"].startswith("Bearer ")


async def test_a_request_to_connect_gives_the_link_to_its_caller_alone(house: House) -> None:
    ada = await house.found()
    bob = await house.invite(ada, "editor")
    refused = (await call(bob, account="work")).json()

    path = f"/v1/approvals/{refused['approval_id']}"
    own, of_another = (await bob.get(path)).json(), (await ada.get(path)).json()
    decided = await ada.post(path, json={"decision": "deny"})
    denied = (await bob.get(path)).json()

    assert decided.status_code == 200, decided.text
    assert own["link"] == refused["link"]
    assert own["link"].endswith("&name=work")
    assert [(item["kind"], "link" in item) for item in (of_another, denied)] == [
        ("connection", False),
        ("connection", False),
    ]


async def test_a_link_and_a_consent_of_another_person_are_refused(
    house: House, oidc: OidcServer
) -> None:
    ada = await house.found()
    bob = await house.invite(ada, "editor")
    link = (await call(ada)).json()["link"]

    foreign_link = await bob.get(link)
    started = await ada.post(START, json={"source": "github"})
    back = await oidc.consent(started.json()["url"])
    without_cookie = await bob.get(back)
    [(name, value)] = [it for it in ada.cookies.items() if it[0].startswith("pegboard_oauth")]
    bob.cookies.set(name, value, path="/v1/credentials/oauth/callback")
    with_cookie = await bob.get(back)

    assert (foreign_link.status_code, "another caller" in foreign_link.text) == (403, True)
    assert (without_cookie.status_code, "begin again" in without_cookie.text) == (400, True)
    assert (with_cookie.status_code, "another caller" in with_cookie.text) == (403, True)
    for browser in (ada, bob):
        assert (await browser.get("/v1/credentials")).json() == {"credentials": []}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"state": "forged"}, "has not begun"),
        ({"iss": "https://evil.example"}, "Another authorization server"),
        ({"code": "forged"}, "invalid_grant"),
        ({"code": "", "error": "access_denied"}, "access_denied"),
    ],
    ids=["state", "issuer", "code", "denied"],
)
async def test_a_forged_or_denied_answer_connects_nothing(
    house: House, oidc: OidcServer, changes: dict[str, str], message: str
) -> None:
    async with house.client(bearer=TOKEN) as local:
        started = await local.post(START, json={"source": "github"})
        back = httpx2.URL(await oidc.consent(started.json()["url"]))

        page = await local.get(str(back.copy_merge_params(changes)))

        assert (page.status_code, message in page.text) == (400, True)
        assert (await local.get("/v1/credentials")).json() == {"credentials": []}


async def test_a_link_leads_a_person_who_has_not_signed_in_to_the_sign_in_and_on(
    house: House, oidc: OidcServer
) -> None:
    ada = await house.found()
    link = (await call(ada)).json()["link"]
    started = await ada.get(f"{link}&name=at%20work")
    back = await oidc.consent(started.headers["location"])
    await ada.delete("/v1/session")

    async with house.client() as stranger:
        opened = await stranger.get(f"{link}&name=at%20work")
    late = await ada.get(back)

    assert opened.status_code == 303
    assert opened.headers["location"] == (
        "../../../ui/#connect=source=github&for=local&name=at%20work"
    )
    assert "set-cookie" not in opened.headers
    assert (late.status_code, "Sign in" in late.text) == (401, True)
    assert late.headers["content-type"].startswith("text/html")


async def test_a_consent_goes_on_in_a_session_that_got_a_new_cookie_meanwhile(
    house: House, board: Pegboard, oidc: OidcServer
) -> None:
    ada = await house.found()
    started = await ada.post(START, json={"source": "github"})
    store, old = board.identity.parts.store, ada.cookies[SESSION]
    session = await store.session(digest_of(old))
    assert session is not None
    renewed = structs.replace(session, digest=digest_of("new"), id=session.name)
    await store.replace_session(session.digest, renewed, until=session.expires_at)
    ada.cookies.set(SESSION, "new", domain="127.0.0.1", path="/v1/")

    page = await ada.get(await oidc.consent(started.json()["url"]))

    assert page.status_code == 200, page.text


async def test_two_consents_in_one_browser_are_both_finished(
    house: House, oidc: OidcServer
) -> None:
    async with house.client(bearer=TOKEN) as local:
        urls: list[str] = []
        while len(local.cookies) < 2:  # until neither takes the place of the other
            local.cookies.clear()
            urls = [
                (await local.post(START, json={"source": "github", "name": name})).json()["url"]
                for name in ("work", "home")
            ]
        pages = [await local.get(await oidc.consent(url)) for url in urls]
        listed = (await local.get("/v1/credentials")).json()["credentials"]
        kept = [name for name in local.cookies if name.startswith("pegboard_oauth")]

    assert [page.status_code for page in pages] == [200, 200]
    assert [item["name"] for item in listed] == ["work", "home"]
    assert kept == []


async def test_a_person_connects_a_second_account_by_another_name(
    house: House, oidc: OidcServer
) -> None:
    async with house.client(bearer=TOKEN) as local:
        for name in ("work", "home", "work"):
            wanted = {"source": "github", "name": name}
            started = await local.post(START, json=wanted)
            page = await local.get(await oidc.consent(started.json()["url"]))
            assert page.status_code == 200, page.text
        listed = (await local.get("/v1/credentials")).json()["credentials"]

    assert [(item["name"], item["is_default"]) for item in listed] == [
        ("work", True),
        ("home", False),
    ]


@pytest.mark.slow
async def test_an_api_that_asks_for_more_rights_gets_them_by_another_consent(
    tmp_path: Path, oidc: OidcServer
) -> None:
    headers = {"WWW-Authenticate": 'Bearer error="insufficient_scope", scope="profile"'}

    async def respond(received: Received, writer: asyncio.StreamWriter) -> None:
        token = received.headers["authorization"].removeprefix("Bearer ")
        about = await oidc.introspect(token)
        may = "profile" in about["scope"].split()
        answer = reply(b"{}", headers={"Content-Type": "application/json"})
        writer.write(answer if may else reply(b"{}", status=403, headers=headers))

    async with serving(respond) as server:
        oauth = oidc.oauth(scopes=["openid"], userinfo_url="")
        text = board_text(server, auth={"kind": "caller", "oauth": oauth})
        settings: dict[str, Any] = {"token": SecretStr(TOKEN), "data": tmp_path / "data"}
        async with a_board(tmp_path, text=text, tools=(), **settings) as board:
            board.credentials.connections.serve()
            ada = await House(board).found()
            started = await ada.post(START, json={"source": "github"})
            await ada.get(await oidc.consent(started.json()["url"]))

            refused = (await call(ada)).json()
            opened = await ada.get(refused["link"])
            await ada.get(await oidc.consent(opened.headers["location"]))
            answer = await call(ada)

    asked = parse_qs(urlsplit(opened.headers["location"]).query)
    assert refused["code"] == "credential_missing"
    assert "asks for more rights: profile" in refused["detail"]
    assert asked["scope"] == ["openid profile"]
    assert answer.status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("refusals", [1, 2], ids=["once", "again"])
async def test_a_token_that_the_api_refuses_is_renewed_once_and_then_connected_again(
    tmp_path: Path, oidc: OidcServer, refusals: int
) -> None:
    sent: list[str] = []

    async def respond(received: Received, writer: asyncio.StreamWriter) -> None:
        sent.append(received.headers.get("authorization", ""))
        status = 401 if len(sent) <= refusals else 200
        writer.write(reply(b"{}", status=status, headers={"Content-Type": "application/json"}))

    async with serving(respond) as server:
        text = board_text(server, auth={"kind": "caller", "oauth": oidc.oauth()})
        settings: dict[str, Any] = {"token": SecretStr(TOKEN), "data": tmp_path / "data"}
        async with a_board(tmp_path, text=text, tools=(), **settings) as board:
            board.credentials.connections.serve()
            ada = await House(board).found()
            started = await ada.post(START, json={"source": "github"})
            await ada.get(await oidc.consent(started.json()["url"]))

            answer = await call(ada)
            (about,) = (await ada.get("/v1/credentials")).json()["credentials"]
            listed = (await ada.get("/v1/tools/github__whoami")).json()

    assert len(set(sent)) == len(sent) == 2
    if refusals == 1:
        assert (answer.status_code, about["state"]) == (200, "ok")
    else:
        assert (answer.json()["code"], about["state"]) == ("credential_missing", "reconnect")
        assert "must be connected again" in answer.json()["detail"]
        assert listed["name"] == "github__whoami"
