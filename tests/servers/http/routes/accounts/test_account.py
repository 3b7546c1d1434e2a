"""Your own account over HTTP: who changes what of it, and which sessions end."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import ADA, BOB, House

NEW = "a password of today"


class Home:
    """Ada and Bob in their browsers, and the server."""

    def __init__(self, house: House, ada: Any, bob: Any) -> None:
        self.house, self.ada, self.bob = house, ada, bob

    async def sign_in(self, name: str, password: str) -> httpx2.Response:
        async with self.house.client() as browser:
            return await browser.post("/v1/session", json={"name": name, "password": password})

    async def other_browser(self) -> httpx2.AsyncClient:
        browser = self.house.client()
        account = {"name": ADA["handle"], "password": ADA["password"]}
        answer = await browser.post("/v1/session", json=account)
        browser.headers["X-Pegboard-CSRF"] = answer.json()["csrf"]
        return browser


@pytest.fixture
async def home(tmp_path: Path) -> AsyncGenerator[Home]:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        house = House(board)
        ada = await house.found()
        yield Home(house, ada, await house.invite(ada, "editor"))


async def sessions(client: httpx2.AsyncClient) -> list[bool]:
    return [
        item["current"] for item in (await client.get("/v1/account/sessions")).json()["sessions"]
    ]


async def test_a_person_changes_the_name_that_others_read(home: Home) -> None:
    changed = await home.bob.patch("/v1/account", json={"name": " Bob Builder "})
    people = (await home.ada.get("/v1/people")).json()["people"]

    assert (changed.json()["name"], changed.json()["has_password"]) == ("Bob Builder", True)
    assert [item["name"] for item in people if item["handle"] == "bob"] == ["Bob Builder"]
    assert (await home.bob.patch("/v1/account", json={"name": ""})).json()["name"] == "bob"


async def test_a_new_password_needs_the_old_one_and_ends_the_other_sessions(home: Home) -> None:
    other = await home.other_browser()
    wanted = {"current_password": ADA["password"], "new_password": NEW}
    wrong = await home.ada.patch("/v1/account", json=wanted | {"current_password": "wrong horse"})
    changed = await home.ada.patch("/v1/account", json=wanted)

    assert (wrong.status_code, wrong.json()["detail"]) == (400, "The current password is wrong.")
    assert changed.status_code == 200
    assert (await other.get("/v1/account")).status_code == 401
    assert (await home.ada.get("/v1/account")).status_code == 200
    assert (await home.sign_in("ada", str(ADA["password"]))).status_code == 401
    assert (await home.sign_in("ada", NEW)).status_code == 200
    assert (await home.sign_in("bob", str(BOB["password"]))).status_code == 200


async def test_guesses_of_the_current_password_are_limited(home: Home) -> None:
    wanted = {"current_password": "wrong horse", "new_password": NEW}
    answers = [(await home.bob.patch("/v1/account", json=wanted)).status_code for _ in range(12)]

    assert answers[0] == 400
    assert answers[-1] == 429


@pytest.mark.parametrize(
    "wanted",
    [
        {"new_password": NEW},
        {"current_password": "x"},
        {"current_password": "x", "new_password": "short"},
        {"operator": True},
        {"email": "x@y.example"},
        {"name": "x" * 201},
    ],
    ids=str,
)
async def test_a_change_that_is_not_offered_is_refused(home: Home, wanted: dict[str, Any]) -> None:
    assert (await home.bob.patch("/v1/account", json=wanted)).status_code == 422


async def test_a_person_signs_out_of_other_browsers(home: Home) -> None:
    other, third = await home.other_browser(), await home.other_browser()
    listed = (await home.ada.get("/v1/account/sessions")).json()["sessions"]
    mine = {item["id"] for item in (await third.get("/v1/account/sessions")).json()["sessions"]}
    (own,) = [item["id"] for item in listed if item["current"]]
    foreign = await home.bob.delete(f"/v1/account/sessions/{own}")
    ended = await home.ada.delete(f"/v1/account/sessions/{listed[0]['id']}")

    assert (len(listed), mine) == (3, {item["id"] for item in listed})
    assert foreign.status_code == 404
    assert ended.status_code == 204
    assert sorted(await sessions(home.ada)) == [False, True]
    assert (await home.ada.delete("/v1/account/sessions")).status_code == 204
    assert await sessions(home.ada) == [True]
    assert {(await client.get("/v1/account")).status_code for client in (other, third)} == {401}
    assert (await home.bob.get("/v1/account")).status_code == 200


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


async def seen(client: httpx2.AsyncClient) -> list[tuple[Any, ...]]:
    listed = (await client.get("/v1/account/sessions")).json()["sessions"]
    names = ("signed_in_from", "used_from")
    return [tuple(item[name][key] for name in names for key in item[name]) for item in listed]


async def test_a_person_sees_where_a_session_was_begun_and_last_used(home: Home) -> None:
    async with home.house.client() as browser:
        browser.headers["User-Agent"] = f"{FIREFOX} <script>"
        await browser.post("/v1/session", json={"name": BOB["handle"], "password": BOB["password"]})
        browser.headers["User-Agent"] = "curl/8.5.0"
        await browser.get("/v1/tools")  # as a thief of the cookie
        found = await seen(browser)

    own = ("127.0.0.1", "", "127.0.0.1", "")
    assert found == [("127.0.0.1", "Firefox on Linux", "127.0.0.1", ""), own]


async def test_the_address_of_a_session_is_the_one_a_trusted_proxy_names(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"token": SecretStr(TOKEN), "trusted_proxies": "127.0.0.1"}
    async with a_board(tmp_path, **settings) as board:
        house = House(board)
        ada = await house.found()
        ada.headers["X-Forwarded-For"] = "203.0.113.9, 192.0.2.7"
        found = await seen(ada)

    assert found == [("127.0.0.1", "", "192.0.2.7", "")]


async def test_a_key_that_decides_approvals_lists_and_ends_sessions(home: Home) -> None:
    scopes = ["*", "approvals:decide"]
    made = await home.bob.post("/v1/keys", json={"name": "laptop", "scopes": scopes})
    async with home.house.client(bearer=made.json()["key"]) as program:
        listed = await sessions(program)
        ended = await program.delete("/v1/account/sessions")
        renamed = await program.patch("/v1/account", json={"name": "Robot"})

    assert (listed, ended.status_code, renamed.status_code) == ([False], 204, 403)
    assert (await home.bob.get("/v1/account")).status_code == 401
    assert (await home.ada.get("/v1/account")).status_code == 200


async def test_a_key_changes_nothing_of_an_account(home: Home) -> None:
    key = (await home.bob.post("/v1/keys", json={"name": "night"})).json()["key"]
    async with home.house.client(bearer=key) as program:
        shown = await program.get("/v1/account")
        answers = [
            await program.patch("/v1/account", json={"name": "Robot"}),
            await program.patch("/v1/account", json={"current_password": "x", "new_password": NEW}),
            await program.get("/v1/account/sessions"),
            await program.delete("/v1/account/sessions"),
            await program.delete("/v1/account/sessions/x"),
        ]

    assert shown.json()["handle"] == "bob"
    assert [answer.status_code for answer in answers] == [403] * 5


async def test_who_has_no_account_has_none_to_show(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/account")).status_code == 404
