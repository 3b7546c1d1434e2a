"""Accounts over HTTP: the first link, signing in, keys, organisations, and a person kept out."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import ADA, BOB, START, House

from pegboard.features.identity.sign_in_limits import MAX_OF_BOTH
from pegboard.servers.http.routes.accounts.keys import router as keys
from pegboard.servers.http.routes.accounts.oauth_consent import router as oauth_consent
from pegboard.servers.http.routes.accounts.organisations import router as organisations
from pegboard.servers.http.routes.accounts.people import router as people
from pegboard.servers.http.routes.accounts.services import router as services


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        yield House(board)


async def test_the_first_link_makes_an_account_and_signs_it_in(house: House) -> None:
    async with house.client(bearer=TOKEN) as local:
        link = await house.make_link(local)
        opened = (await local.post("/v1/people/link", json={"link": link})).json()
        browser = await house.join(link, ADA)
    me = (await browser.get("/v1/session")).json()
    again = await browser.post("/v1/people/join", json={"link": link, **BOB})

    assert (opened["purpose"], opened["handle"]) == ("first", "")
    assert (me["signed_in"], me["accounts"], me["handle"]) == (True, True, "ada")
    assert (me["tenant"], me["organisations"], me["kind"]) == ("acme", ["acme"], "user")
    assert (again.status_code, again.json()["code"]) == (404, "account_not_found")
    assert (await browser.get("/v1/tools")).status_code == 200


async def test_a_person_signs_in_with_a_name_and_a_password_and_out_again(house: House) -> None:
    await house.found()
    browser = house.client()

    wrong = await browser.post("/v1/session", json={"name": "ada", "password": "wrong horse"})
    right = await browser.post("/v1/session", json={"name": "ADA", "password": ADA["password"]})
    inside = await browser.get("/v1/tools")
    csrf = {"X-Pegboard-CSRF": right.json()["csrf"]}
    out = await browser.delete("/v1/session", headers=csrf)
    browser.cookies.clear()

    assert (wrong.status_code, wrong.json()["code"]) == (401, "sign_in_refused")
    assert (right.status_code, inside.status_code, out.status_code) == (200, 200, 204)
    assert (await browser.get("/v1/tools")).status_code == 401


async def test_too_many_wrong_passwords_are_told_when_to_try_again(house: House) -> None:
    await house.found()
    browser = house.client()
    attempts = [
        await browser.post("/v1/session", json={"name": "ada", "password": "wrong horse"})
        for _ in range(MAX_OF_BOTH + 1)
    ]

    assert [answer.status_code for answer in attempts] == [401] * MAX_OF_BOTH + [429]
    assert 0 < int(attempts[-1].headers["retry-after"]) <= 300


async def test_a_change_with_a_cookie_needs_the_csrf_header(house: House) -> None:
    ada = await house.found()
    del ada.headers["X-Pegboard-CSRF"]

    answer = await ada.post("/v1/keys", json={"name": "ci"})

    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_token_missing")


async def test_a_key_is_shown_once_used_and_revoked(house: House) -> None:
    ada = await house.found()
    made = (await ada.post("/v1/keys", json={"name": "ci", "days": 30})).json()
    async with house.client(bearer=made["key"]) as program:
        used = await program.get("/v1/tools")
        more = await program.post("/v1/keys", json={"name": "more"})
        revoked = await ada.delete(f"/v1/keys/{made['id']}")
        after = await program.get("/v1/tools")
    listed = (await ada.get("/v1/keys")).json()["keys"]

    assert made["expires_at"] - made["created_at"] == 30 * 24 * 3600
    assert (used.status_code, more.status_code, after.status_code) == (200, 403, 401)
    assert listed == [revoked.json()]
    assert "key" not in listed[0]


async def test_a_person_who_is_disabled_is_out_at_once(house: House) -> None:
    ada = await house.found()
    bob = await house.invite(ada)
    key = (await bob.post("/v1/keys", json={"name": "ci"})).json()["key"]
    async with house.client(bearer=key) as program:
        before = [(await bob.get("/v1/tools")).status_code, (await program.get("/mcp")).status_code]
        answer = await ada.patch("/v1/people/bob", json={"disabled": True})
        after = [(await bob.get("/v1/tools")).status_code, (await program.get("/mcp")).status_code]

    assert answer.json()["disabled"] is True
    assert before[0] == 200
    assert before[1] != 401
    assert after == [401, 401]


async def test_members_are_listed_given_roles_and_removed(house: House) -> None:
    ada = await house.found()
    await house.invite(ada, "member")
    members = "/v1/organisations/acme/members"

    changed = await ada.put(f"{members}/bob", json={"roles": ["approver", "editor"]})
    listed = (await ada.get(members)).json()["members"]
    removed = await ada.delete(f"{members}/bob")

    assert changed.json()["roles"] == ["approver", "editor"]
    assert [(item["handle"], item["roles"]) for item in listed] == [
        ("ada", ["administrator", "editor"]),
        ("bob", ["approver", "editor"]),
    ]
    assert removed.status_code == 204
    assert len((await ada.get(members)).json()["members"]) == 1


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/organisations/{}/members", None),
        ("PUT", "/v1/organisations/{}/members/ada", {"roles": ["member"]}),
        ("DELETE", "/v1/organisations/{}/members/ada", None),
        ("POST", "/v1/organisations/{}/members", None),
        ("PATCH", "/v1/people/{}", {"disabled": True}),
        ("DELETE", "/v1/keys/{}", None),
        ("POST", "/v1/people/links", {"organisation": "{}"}),
        ("POST", "/v1/people/links", {"person": "{}"}),
    ],
)
async def test_what_a_person_may_not_see_answers_as_what_is_not_there(
    house: House, method: str, path: str, body: dict[str, Any] | None
) -> None:
    ada = await house.found()
    bob = await house.invite(ada, "administrator")
    await ada.post("/v1/organisations", json={"handle": "zoo"})
    link = await house.make_link(ada, organisation="zoo")
    await house.join(link, {"handle": "eve", "password": "correct horse"})
    hidden = "eve" if path.startswith("/v1/people/{") or "person" in (body or {}) else "zoo"

    async def ask(name: str) -> tuple[int, str]:
        filled = {key: name if value == "{}" else value for key, value in (body or {}).items()}
        answer = await bob.request(method, path.format(name), json=filled or None)
        return answer.status_code, answer.text.replace(name, "X")

    assert await ask(hidden) == await ask("nix")


async def test_people_see_those_of_their_organisations(house: House) -> None:
    ada = await house.found()
    bob = await house.invite(ada)
    await ada.post("/v1/organisations", json={"handle": "zoo"})

    people_of_bob = (await bob.get("/v1/people")).json()["people"]
    organisations_of_bob = (await bob.get("/v1/organisations")).json()["organisations"]

    assert [person["handle"] for person in people_of_bob] == ["ada", "bob"]
    assert [(item["handle"], item["roles"]) for item in organisations_of_bob] == [
        ("acme", ["member"])
    ]


async def test_an_administrator_is_told_who_waits(house: House) -> None:
    ada = await house.found()
    bob = await house.invite(ada)
    link = await house.make_link(ada)
    eve = await house.join(link, {"handle": "eve", "password": "correct horse"})

    asked = await eve.post("/v1/organisations/acme/members")
    counts = [
        [
            item["waiting"]
            for item in (await browser.get("/v1/organisations")).json()["organisations"]
        ]
        for browser in (ada, bob, eve)
    ]

    assert asked.status_code == 204
    assert counts == [[1], [0], []]


async def test_an_operator_is_told_what_somebody_else_may_call(house: House) -> None:
    ada = await house.found()
    bob = await house.invite(ada, "member")
    path = "/v1/tools/note/explain"

    of_ada = (await ada.get(path)).json()
    of_bob = (await ada.get(path, params={"who": "bob"})).json()
    refused = await bob.get("/v1/tools/add/explain", params={"who": "ada"})
    unknown = await bob.get("/v1/tools/add/explain", params={"who": "nix"})

    assert (of_ada["verdict"], of_bob["verdict"], of_bob["rule"]) == ("allow", "deny", "roles")
    assert (refused.status_code, unknown.status_code) == (404, 404)
    assert refused.text.replace("ada", "X") == unknown.text.replace("nix", "X")


async def test_the_token_of_this_start_makes_links_for_the_locked_out_and_nothing_else(
    house: House,
) -> None:
    await house.found()
    async with house.client(bearer=START) as owner:
        tools = await owner.get("/v1/tools")
        link = await house.make_link(owner, person="ada")
        invited = await owner.post("/v1/people/links", json={"organisation": "acme"})
        listed = await owner.get("/v1/people")
    browser = house.client()
    reset = await browser.post("/v1/session", json={"link": link, "password": "a new password"})
    signed = await browser.post("/v1/session", json={"name": "ada", "password": "a new password"})

    assert (tools.status_code, listed.status_code, invited.status_code) == (401, 401, 403)
    assert (reset.status_code, signed.status_code) == (200, 200)


async def test_the_token_signs_nobody_in_once_there_are_accounts(house: House) -> None:
    await house.found()
    browser = house.client()

    answer = await browser.post("/v1/session", json={"token": TOKEN})
    me = (await browser.get("/v1/session")).json()

    assert (answer.status_code, answer.json()["code"]) == (401, "accounts_needed")
    assert (me["signed_in"], me["sign_in_required"], me["accounts"]) == (False, True, True)


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
async def test_only_what_joins_is_open_to_strangers(house: House, method: str) -> None:
    await house.found()
    async with house.client() as stranger:
        answers = [
            await stranger.request(method, f"/v1/people/{path}", json={"disabled": True})
            for path in ("join", "link", "links")
        ]

    assert [answer.status_code for answer in answers] == [401, 401, 401]


async def test_without_an_account_there_is_nobody_to_list(house: House) -> None:
    async with house.client(bearer=TOKEN) as local:
        me = (await local.get("/v1/session")).json()
        answers = [
            (await local.get("/v1/people")).json(),
            (await local.get("/v1/keys")).json(),
            (await local.get("/v1/organisations")).json(),
        ]
        refused = await local.post("/v1/keys", json={"name": "ci"})

    assert (me["caller"], me["accounts"], me["handle"]) == ("local", False, "")
    assert answers == [{"people": []}, {"keys": []}, {"organisations": []}]
    assert refused.status_code == 403


async def test_a_page_of_another_origin_cannot_sign_a_browser_in(house: House) -> None:
    await house.found()

    answer = await house.client().post(
        "/v1/session",
        json={"name": "ada", "password": ADA["password"]},
        headers={"Origin": "https://elsewhere.example"},
    )

    assert (answer.status_code, answer.json()["code"]) == (403, "origin_not_allowed")


@pytest.mark.parametrize("router", [keys, oauth_consent, organisations, people, services])
async def test_without_a_sign_in_nothing_of_people_is_answered(
    house: House, router: APIRouter
) -> None:
    await house.found()
    names = {"person": "ada", "organisation": "acme", "key": "key_1"}
    names |= {"service": "robot", "role": "support"}
    routes = [route for route in router.routes if isinstance(route, APIRoute)]
    asked = [
        (method, route.path.format_map(names))
        for route in routes
        for method in route.methods or ()
        if route.path not in {"/people/join", "/people/link"}
    ]
    async with house.client() as stranger:
        statuses = {(await stranger.request(*each)).status_code for each in asked}

    assert len(asked) >= 2
    assert statuses == {401}


async def test_a_service_account_calls_with_the_key_that_its_administrator_made(
    house: House,
) -> None:
    ada = await house.found()
    path = "/v1/organisations/acme/services"
    made = await ada.post(path, json={"handle": "robot", "roles": ["editor"]})
    key = (await ada.post(f"{path}/robot/keys", json={"name": "ci"})).json()
    async with house.client(bearer=key["key"]) as robot:
        written = await robot.post("/v1/execute", json={"name": "note", "input": {"text": "x"}})
        refused = await robot.post(f"{path}/robot/keys", json={"name": "more"})
        revoked = await ada.delete(f"{path}/robot/keys/{key['id']}")
        after = await robot.get("/v1/tools")
    listed = (await ada.get(f"{path}/robot/keys")).json()["keys"]

    assert (made.status_code, made.json()["service"]) == (201, True)
    assert (written.status_code, refused.status_code, after.status_code) == (200, 403, 401)
    assert listed == [revoked.json()]


async def test_an_operator_names_another_over_http(house: House) -> None:
    ada = await house.found()
    bob = await house.invite(ada)

    named = await ada.patch("/v1/people/bob", json={"operator": True})
    dismissed = await bob.patch("/v1/people/ada", json={"operator": False})
    last = await bob.patch("/v1/people/bob", json={"operator": False})

    assert (named.json()["operator"], dismissed.json()["operator"]) == (True, False)
    assert last.status_code == 400


async def test_a_session_acts_for_the_organisation_that_was_chosen(house: House) -> None:
    ada = await house.found()
    await ada.post("/v1/organisations", json={"handle": "zoo"})

    chosen = await ada.put("/v1/session", json={"organisation": "zoo"})
    unknown = await ada.put("/v1/session", json={"organisation": "nix"})
    await ada.post("/v1/execute", json={"name": "add", "input": {"a": 1, "b": 2}})
    [call] = (await ada.get("/v1/history")).json()["calls"]

    assert (chosen.json()["tenant"], unknown.status_code) == ("zoo", 404)
    assert call["tenant"] == "zoo"
