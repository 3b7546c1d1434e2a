"""Kill switches through the door."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.servers.http.made import client_of

from pegboard.features.kill_switches.schemas import SwitchAnswer, SwitchList
from pegboard.runtime import Pegboard, Settings


async def test_a_tool_is_turned_off_listed_and_on_again(client: httpx2.AsyncClient) -> None:
    body = {"turn": "off", "kind": "tool", "name": "ad*", "reason": "it adds twice"}
    off = await client.post("/switches", json=body)
    refused = await client.post("/execute", json={"name": "add", "input": {"a": 1}})
    listed = (await client.get("/v1/switches")).json()
    on = await client.post("/switches", json={"turn": "on", "kind": "tool", "name": "ad*"})
    done = await client.post("/execute", json={"name": "add", "input": {"a": 1}})
    again = await client.post("/switches", json={"turn": "on", "kind": "tool", "name": "ad*"})
    trail = (await client.get("/audit", params={"kind": "switch"})).json()["records"]

    answer = SwitchAnswer.model_validate(off.json())
    assert (answer.state, answer.reason, answer.by, answer.kept) == (
        *("off", "it adds twice", "/local", True),
    )
    assert answer.tools
    assert refused.status_code == 403
    assert "it adds twice" in refused.json()["detail"]
    assert SwitchList.model_validate(listed).switches == [answer]
    assert on.json()["state"] == "on"
    assert done.json()["output"] == 1
    assert (again.status_code, again.json()["code"]) == (404, "switch_not_found")
    assert trail == []


@pytest.mark.parametrize(
    ("body", "path", "says"),
    [
        ({"turn": "off", "kind": "tool"}, "body.name", "missing, required"),
        (
            {"turn": "off", "kind": "tool", "name": "a b"},
            "body.name",
            "Give the name of a listed tool, or a glob such as 'shop__*'.",
        ),
        (
            {"turn": "off", "kind": "tool", "name": "a\n"},
            "body.name",
            "Give the name of a listed tool",
        ),
        (
            {"turn": "off", "kind": "source", "name": "*"},
            "body.name",
            "Give the name of a listed source.",
        ),
        ({"turn": "off", "kind": "writes", "name": "x"}, "body.name", "expected ''"),
        ({"turn": "away", "kind": "writes"}, "body.turn", "'off' or 'on'"),
        ({"turn": "off", "kind": "everything"}, "body", "'tool', 'source', 'writes'"),
        ({"turn": "off", "kind": "writes", "reason": "x" * 501}, "body.reason", "500"),
    ],
    ids=str,
)
async def test_a_switch_that_means_nothing_is_refused(
    client: httpx2.AsyncClient, body: dict[str, Any], path: str, says: str
) -> None:
    refused = await client.post("/switches", json=body)

    assert refused.status_code == 422
    [problem] = refused.json()["problems"]
    assert problem["path"] == path
    assert says in problem["message"]


async def test_what_is_listed_can_be_sent_back(client: httpx2.AsyncClient) -> None:
    await client.post("/switches", json={"turn": "off", "kind": "writes"})
    [listed] = (await client.get("/switches")).json()["switches"]
    on = await client.post(
        "/switches", json={"turn": "on", "kind": listed["kind"], "name": listed["name"]}
    )

    assert listed["name"] == ""
    assert (on.status_code, on.json()["state"]) == (200, "on")


async def test_one_key_throws_a_switch_once(client: httpx2.AsyncClient) -> None:
    key, body = {"Idempotency-Key": "k1"}, {"turn": "off", "kind": "writes", "reason": "first"}
    first = await client.post("/switches", json=body, headers=key)
    await client.post("/switches", json={"turn": "on", "kind": "writes"})
    again = await client.post("/switches", json=body, headers=key)
    conflict = await client.post("/switches", json=body | {"reason": "second"}, headers=key)
    listed = (await client.get("/switches")).json()

    assert first.json() == again.json()
    assert (conflict.status_code, conflict.json()["code"]) == (409, "idempotency_conflict")
    assert listed == {"switches": []}


async def test_a_restart_keeps_what_is_off_and_the_trail_says_who_did_it(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    async with Pegboard(settings=settings) as board, client_of(board) as client:
        body = {"turn": "off", "kind": "source", "name": "builtin", "reason": "a fire"}
        await client.post("/switches", json=body)
    async with Pegboard(settings=settings) as board, client_of(board) as client:
        refused = await client.post("/execute", json={"name": "builtin__echo", "input": {}})
        told = (await client.get("/tools/builtin__echo/explain")).json()
        [record] = (await client.get("/audit", params={"kind": "switch"})).json()["records"]

    assert (refused.status_code, told["rule"], told["visible"]) == (403, "switch.source", False)
    assert '"by":"local"' in record["body"]
    assert '"subject":"source builtin"' in record["body"]


async def test_a_source_says_that_it_is_turned_off(tmp_path: Path) -> None:
    async with Pegboard(settings=Settings(data=tmp_path)) as board, client_of(board) as client:
        before = (await client.get("/sources")).json()["sources"][0]
        body = {"turn": "off", "kind": "source", "name": before["name"], "reason": "a fire"}
        await client.post("/switches", json=body)
        source = (await client.get("/sources")).json()["sources"][0]

    assert before["reason"] == ""
    assert (source["status"], source["reason"]) == ("ok", "is turned off: a fire")
    assert source["unavailable"] == source["tools"] > 0
    assert source["unavailable_reasons"] == ["is turned off: a fire"]
