"""Quotas over HTTP: who sets them, who sees them, and what a caller beyond one is told."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House

CALL = {"name": "add", "input": {"a": 1, "b": 2}}
DAY: dict[str, Any] = {"measure": "calls", "window": "day"}


class People:
    """Ada, the operator; Bob, an editor of Acme; Eve, who administers the zoo."""

    def __init__(self, ada: Any, bob: Any, eve: Any) -> None:
        self.ada, self.bob, self.eve = ada, bob, eve


@pytest.fixture
async def people(tmp_path: Path) -> AsyncGenerator[People]:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        house = House(board)
        ada = await house.found()
        bob = await house.invite(ada, "editor")
        await ada.post("/v1/organisations", json={"handle": "zoo"})
        link = await house.make_link(ada, organisation="zoo", roles=["administrator"])
        eve = await house.join(link, {"handle": "eve", "password": "correct horse"})
        yield People(ada, bob, eve)


async def put(client: httpx2.AsyncClient, limit: float | None, **of: str) -> httpx2.Response:
    return await client.put("/v1/quotas", json={**DAY, "limit": limit, **of})


async def listed(client: httpx2.AsyncClient) -> list[tuple[Any, ...]]:
    found = (await client.get("/v1/quotas")).json()["quotas"]
    return [
        (it["person"], it["organisation"], it["limit"], it["used"], it["set_by"]) for it in found
    ]


async def test_a_person_beyond_a_quota_is_told_which_and_until_when(people: People) -> None:
    assert (await put(people.ada, 2, person="bob")).status_code == 200
    done = [(await people.bob.post("/v1/execute", json=CALL)).status_code for _ in range(2)]
    refused = await people.bob.post("/v1/execute", json=CALL)

    body = refused.json()
    assert done == [200, 200]
    assert (refused.status_code, body["code"]) == (429, "quota_exceeded")
    assert body["detail"].startswith("The quota of 2 calls a day of this account is used up")
    assert (body["limit"], body["used"], body["retryable"]) == (2.0, 2.0, False)
    assert int(refused.headers["Retry-After"]) <= 86_400
    assert await listed(people.bob) == [("bob", "", 2.0, 2.0, "operator")]
    assert (await people.ada.post("/v1/execute", json=CALL)).status_code == 200

    path = "/v1/quotas?measure=calls&window=day&person=bob"
    assert (await people.ada.delete(path)).status_code == 204
    assert (await people.ada.delete(path)).status_code == 404
    assert (await people.bob.post("/v1/execute", json=CALL)).status_code == 200


async def test_a_refused_call_is_in_the_history_with_its_code(people: People) -> None:
    await put(people.ada, 0, organisation="acme")
    await people.bob.post("/v1/execute", json=CALL)

    (call,) = (await people.bob.get("/v1/history")).json()["calls"]
    assert (call["error_code"], call["tool"]) == ("quota_exceeded", "add")


async def test_administrators_limit_their_organisation_and_its_members_alone(
    people: People,
) -> None:
    allowed = [
        await put(people.eve, 5, organisation="zoo"),
        await put(people.eve, 3, organisation="zoo", person="eve"),
    ]
    refused = [
        await put(people.eve, 5, person="eve"),
        await put(people.bob, 5, organisation="acme"),
        await put(people.eve, None, organisation="zoo"),
        await put(people.eve, 5, organisation="acme"),
        await put(people.eve, 5, organisation="nowhere"),
        await put(people.eve, 5, organisation="zoo", person="bob"),
        await put(people.eve, 5, organisation="zoo", person="nobody"),
    ]

    assert [answer.status_code for answer in allowed] == [200, 200]
    codes = [answer.status_code for answer in refused]
    assert codes == [403, 403, 400, 404, 404, 404, 404]
    assert refused[3].json()["detail"] == "There is no organisation 'acme'."
    assert refused[5].json()["detail"] == "There is no person 'bob' in 'zoo'."
    assert await listed(people.eve) == [
        ("", "zoo", 5.0, 0.0, "administrator"),
        ("eve", "zoo", 3.0, 0.0, "administrator"),
    ]
    assert await listed(people.bob) == []
    assert len(await listed(people.ada)) == 2


async def test_an_administrator_takes_no_quota_of_operators_away(people: People) -> None:
    await put(people.ada, 1, organisation="zoo")
    await put(people.eve, 9, organisation="zoo")
    own = await people.eve.delete("/v1/quotas?measure=calls&window=day&organisation=zoo")
    again = await people.eve.delete("/v1/quotas?measure=calls&window=day&organisation=zoo")

    assert (own.status_code, again.status_code) == (204, 404)
    assert await listed(people.eve) == [("", "zoo", 1.0, 0.0, "operator")]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"limit": 1}, 400),
        ({"limit": 1.5, "person": "bob"}, 400),
        ({"limit": -1, "person": "bob"}, 422),
        ({"limit": True, "person": "bob"}, 422),
        ({"limit": "7", "person": "bob"}, 422),
        ({"limit": 1, "person": "bo\u0000b"}, 404),
        ({"limit": 1, "person": "nobody"}, 404),
        ({"limit": 1, "person": "bob", "window": "year"}, 422),
    ],
    ids=["nobody", "half a call", "less than none", "a truth", "a text", "nul", "unknown", "year"],
)
async def test_a_quota_that_breaks_the_rules_is_refused(
    people: People, body: dict[str, Any], status: int
) -> None:
    answer = await people.ada.put("/v1/quotas", json={**DAY, **body})

    assert answer.status_code == status


async def test_many_calls_at_once_pass_no_quota_and_a_mail_address_names_its_person(
    people: People,
) -> None:
    made = await put(people.ada, 5, person="Bob@acme.example")
    answers = await asyncio.gather(*(people.bob.post("/v1/execute", json=CALL) for _ in range(20)))

    assert made.json()["person"] == "bob"
    assert [answer.status_code for answer in answers].count(200) == 5
    assert {answer.status_code for answer in answers} == {200, 429}


async def test_the_key_of_an_agent_changes_no_quota(people: People) -> None:
    made = await people.ada.post("/v1/keys", json={"name": "agent", "scopes": ["*"]})
    people.ada.cookies.clear()
    people.ada.headers["Authorization"] = f"Bearer {made.json()['key']}"

    assert (await put(people.ada, 1, person="bob")).status_code == 403


async def test_an_explanation_says_that_a_quota_is_used_up_and_what_lifts_it(
    people: People,
) -> None:
    await put(people.ada, 0, person="bob")
    told = (await people.bob.get("/v1/tools/add/explain")).json()
    of_ada = (await people.ada.get("/v1/tools/add/explain")).json()

    assert (told["verdict"], told["rule"], told["visible"]) == ("deny", "quotas", True)
    assert [step["check"] for step in told["remedies"]] == ["quotas"]
    assert told["remedies"][0]["any_of"][0]["text"].startswith("it begins anew at 20")
    assert (of_ada["verdict"], of_ada["remedies"]) == ("allow", [])
