"""What one person does, another does not see; operators see all."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House

CALL = {"name": "add", "input": {"a": 1, "b": 2}}
PLAN = {"nodes": [{"id": "sum", "tool": "add", "input": {"a": 1, "b": 2}}]}


class People:
    """Ada, the operator; Bob, an editor of her organisation; Eve, an editor of another one."""

    def __init__(self, house: House, ada: Any, bob: Any, eve: Any) -> None:
        self.house, self.ada, self.bob, self.eve = house, ada, bob, eve


@pytest.fixture
async def people(tmp_path: Path) -> AsyncGenerator[People]:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        house = House(board)
        async with house.client(bearer=TOKEN) as local:
            assert (await local.post("/v1/execute", json=CALL)).status_code == 200
        ada = await house.found()
        bob = await house.invite(ada)
        await ada.post("/v1/organisations", json={"handle": "zoo"})
        link = await house.make_link(ada, organisation="zoo")
        eve = await house.join(link, {"handle": "eve", "password": "correct horse"})
        for path in ("acme/members/bob", "zoo/members/eve"):
            await ada.put(f"/v1/organisations/{path}", json={"roles": ["editor"]})
        yield People(house, ada, bob, eve)


async def names(client: httpx2.AsyncClient, **query: str) -> list[str]:
    answer = await client.get("/v1/history", params=query)
    return [call["principal"] for call in answer.json()["calls"]]


async def test_the_history_has_ones_own_calls_and_for_operators_all(people: People) -> None:
    bob = (await people.bob.get("/v1/session")).json()["caller"]
    await people.bob.post("/v1/execute", json=CALL)

    assert await names(people.bob) == [bob]
    assert await names(people.eve) == []
    assert await names(people.eve, principal=bob) == []
    assert await names(people.ada) == [bob, "local"]
    assert await names(people.ada, principal=bob) == [bob]


async def test_a_run_of_another_is_like_none(people: People) -> None:
    started = (await people.bob.post("/v1/runs", json={"graph": PLAN})).json()
    run = started["run_id"]

    async def seen(client: httpx2.AsyncClient, run_id: str) -> tuple[int, str]:
        answer = await client.get(f"/v1/runs/{run_id}")
        return answer.status_code, answer.text.replace(run_id, "X")

    assert (await seen(people.bob, run))[0] == 200
    assert (await seen(people.ada, run))[0] == 200
    assert await seen(people.eve, run) == await seen(people.eve, "r_none")
    assert (await people.eve.get("/v1/runs")).json()["runs"] == []
    assert [item["run_id"] for item in (await people.ada.get("/v1/runs")).json()["runs"]] == [run]


async def test_an_approval_is_seen_by_its_caller_and_decided_by_approvers_of_its_organisation(
    people: People,
) -> None:
    asked = await people.bob.post("/v1/execute", json={"name": "refund", "input": {"invoice": 1}})
    approval = asked.json()["approval_id"]
    path = f"/v1/approvals/{approval}"

    async def listed(client: httpx2.AsyncClient) -> list[str]:
        return [it["id"] for it in (await client.get("/v1/approvals")).json()["approvals"]]

    own = await people.bob.post(path, json={"decision": "approve"})
    other = await people.eve.post(path, json={"decision": "approve"})
    assert (own.status_code, other.status_code) == (403, 404)
    assert await listed(people.bob) == [approval]
    assert await listed(people.eve) == []

    await people.ada.put("/v1/organisations/zoo/members/eve", json={"roles": ["approver"]})
    assert (await people.eve.post(path, json={"decision": "approve"})).status_code == 404
    assert await listed(people.eve) == []

    await people.ada.put(
        "/v1/organisations/acme/members/bob", json={"roles": ["approver", "editor"]}
    )
    assert (await people.bob.post(path, json={"decision": "approve"})).status_code == 200


async def test_a_member_reads_and_does_not_write(people: People) -> None:
    await people.ada.put("/v1/organisations/acme/members/bob", json={"roles": ["member"]})
    read = await people.bob.post("/v1/execute", json=CALL)
    write = await people.bob.post("/v1/execute", json={"name": "note", "input": {"text": "x"}})
    tools = (await people.bob.get("/v1/tools", params={"limit": 500})).json()["tools"]
    all_tools = (await people.ada.get("/v1/tools", params={"limit": 500})).json()["tools"]

    assert read.status_code == 200
    assert (write.status_code, write.json()["code"]) == (403, "access_denied")
    assert "needs the role editor" in write.text
    assert {tool["effect"] for tool in tools} == {"read"}
    assert "write" in {tool["effect"] for tool in all_tools}


async def test_a_stored_result_is_its_owners_alone(people: People) -> None:
    done = (await people.bob.post("/v1/execute", json={"name": "long_list", "input": {}})).json()
    handle = done["metadata"]["handle"].removeprefix("pegboard://results/")

    assert (await people.bob.get(f"/v1/results/{handle}")).status_code == 200
    assert (await people.eve.get(f"/v1/results/{handle}")).status_code == 404


async def test_an_idempotency_key_is_ones_own(people: People) -> None:
    headers = {"Idempotency-Key": "one"}
    call = {"name": "note", "input": {"text": "x"}}
    first = await people.bob.post("/v1/execute", json=call, headers=headers)
    again = await people.bob.post("/v1/execute", json=call, headers=headers)
    other = await people.eve.post("/v1/execute", json=call, headers=headers)

    assert first.json()["output"] == again.json()["output"]
    assert other.json()["output"] != first.json()["output"]


@pytest.mark.parametrize("path", ["/v1/audit", "/v1/metrics", "/v1/switches"])
async def test_what_is_the_operators_is_refused_to_members(people: People, path: str) -> None:
    assert (await people.ada.get(path)).status_code == 200
    assert (await people.bob.get(path)).status_code == 403


async def test_probes_tell_a_member_no_reasons(people: People) -> None:
    assert "sources" in (await people.ada.get("/v1/readyz")).json()
    told = (await people.bob.get("/v1/readyz")).json()
    assert (told["status"], told["sources"], set(told)) == (
        "ready",
        [],
        {"status", "counts", "sources"},
    )


async def test_what_local_did_before_is_the_first_operators(people: People) -> None:
    assert await names(people.ada, principal="local") == ["local"]
    assert await names(people.bob, principal="local") == []
