"""The home page in one call: what needs a person, the latest work, the board, a day of calls."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board, client_of

from pegboard import tool
from pegboard.core.principal import LOCAL, Principal
from pegboard.features.conversations import NewMessage
from pegboard.runtime import Pegboard
from pegboard.servers.http.approval_views import show_approvals
from pegboard.servers.http.models.overview import OverviewAnswer
from pegboard.servers.http.overview import create_overview
from pegboard.testing import ScriptedModel, Turn

APPROVER = Principal(id="ada", scopes=frozenset({"approvals:decide"}))


async def overview(client: httpx2.AsyncClient) -> dict[str, Any]:
    answer = await client.get("/v1/overview")
    OverviewAnswer.model_validate(answer.json())
    return answer.json()


async def test_a_board_without_work_needs_nobody(client: httpx2.AsyncClient) -> None:
    seen = await overview(client)

    assert seen["needs_you"] == {"approvals": 0, "count": 0, "items": []}
    assert (seen["latest"], seen["model_configured"], seen["problem"]) == ([], False, "")
    assert (seen["day"]["calls"], seen["day"]["failed"], seen["day"]["p50_ms"]) == (0, 0, None)
    assert seen["day"]["hours"] == [{"calls": 0, "failed": 0}] * 24


async def test_each_tool_is_counted_once_and_hidden_ones_never(client: httpx2.AsyncClient) -> None:
    seen = await overview(client)
    listed = (await client.get("/v1/tools", params={"unavailable": True, "limit": 100})).json()

    own = next(row for row in seen["board"] if row["source"] == "")
    assert (own["tools"], own["ready"], own["asks"], own["unavailable"]) == (15, 14, 1, 0)
    assert seen["tools"] == listed["total"] == len(listed["tools"])


async def test_tools_that_are_off_and_sources_that_fail_are_told_apart(tmp_path: Path) -> None:
    text = """
sources:
  - {kind: builtin, name: std, config: {include: [calculator, datetime]}}
  - {kind: openapi, name: courier, config: {document: "http://127.0.0.1:9/openapi.json"}}
network: {allow_hosts: ["127.0.0.1:9"]}
"""
    async with client_of(a_board(tmp_path, text=text)) as client:
        await client.post(
            "/switches", json={"turn": "off", "kind": "tool", "name": "std__calculator"}
        )
        seen = await overview(client)

    rows = {row["source"]: row for row in seen["board"]}
    assert (rows["std"]["tools"], rows["std"]["off"], rows["std"]["kind"]) == (2, 1, "builtin")
    assert (rows["courier"]["tools"], rows["courier"]["status"]) == (0, "failed")
    (need,) = [item for item in seen["needs_you"]["items"] if item["kind"] == "source"]
    assert need["source"] == "courier"
    assert need["message"] == rows["courier"]["reason"] != ""


async def test_approvals_that_wait_come_first_and_are_counted(client: httpx2.AsyncClient) -> None:
    for invoice in range(7):
        await client.post("/execute", json={"name": "refund", "input": {"invoice": invoice}})

    needs = (await overview(client))["needs_you"]

    assert (needs["approvals"], needs["count"], len(needs["items"])) == (7, 7, 5)
    assert {item["kind"] for item in needs["items"]} == {"approval"}
    assert needs["items"][0]["approval"]["arguments"] == {"invoice": 6}


async def test_a_question_of_a_run_needs_a_person(client: httpx2.AsyncClient) -> None:
    graph = {
        "name": "Ask",
        "nodes": [{"id": "ask", "kind": "wait", "wait": {"question": "Well?"}}],
    }
    started = (await client.post("/runs", json={"graph": graph})).json()
    await client.get(f"/runs/{started['run_id']}", params={"wait": 5})

    (need,) = (await overview(client))["needs_you"]["items"]

    assert (need["kind"], need["message"], need["run"]["title"]) == ("person", "Well?", "Ask")
    assert need["run"]["state"] == "waiting"


async def test_the_latest_work_shows_runs_and_the_last_of_each_conversation(tmp_path: Path) -> None:
    model = ScriptedModel(Turn(text="One."), Turn(text="Two."))
    async with client_of(a_board(tmp_path, model_given=model)) as client:
        await client.post("/execute", json={"name": "add", "input": {"a": 1}})
        step = {"step_id": "a", "tool_id": "crash", "input_mapping": {}}
        run = (await client.post("/runs", json={"graph": {"steps": [step]}})).json()
        await client.get(f"/runs/{run['run_id']}", params={"wait": 5})
        first = await client.post("/chat", json={"message": "What is\n one?", "stream": False})
        more = {
            "message": "And two?",
            "stream": False,
            "conversation": first.json()["conversation"],
        }
        await client.post("/chat", json=more)
        latest = (await overview(client))["latest"]

    conversation, work = latest
    assert conversation["conversation"] == first.json()["conversation"]
    assert (conversation["title"], conversation["state"]) == ("What is one?", "completed")
    assert (work["run_id"], work["conversation"], work["state"]) == (run["run_id"], "", "failed")
    assert (work["steps"], work["steps_done"]) == (1, 0)
    assert "crash" in work["reason"]


async def test_the_calls_of_a_day_are_summed_up(client: httpx2.AsyncClient) -> None:
    for name in ("echo", "add", "echo", "crash"):
        await client.post(
            "/execute", json={"name": name, "input": {"a": 1} if name == "add" else {}}
        )

    day = (await overview(client))["day"]

    assert (day["calls"], day["failed"]) == (4, 1)
    assert day["hours"][-1] == {"calls": 4, "failed": 1}
    assert 0 < day["p50_ms"] <= day["p95_ms"]


async def test_another_caller_sees_nothing_of_mine(board: Pegboard) -> None:
    async with client_of(board) as client:
        await client.post("/execute", json={"name": "refund", "input": {"invoice": 1}})
        step = {"step_id": "a", "tool_id": "echo", "input_mapping": {}}
        await client.post("/runs", json={"graph": {"steps": [step]}})

    mine = await create_overview(board, principal=LOCAL)
    theirs = await create_overview(board, principal=Principal(id="ada"))
    approver = await create_overview(board, principal=APPROVER)

    assert (mine["needs_you"]["count"], len(mine["latest"])) == (1, 1)
    assert (theirs["needs_you"]["count"], theirs["latest"], theirs["day"]["calls"]) == (0, [], 0)
    assert (approver["needs_you"]["approvals"], approver["latest"]) == (1, [])


async def test_examples_are_wishes_that_this_board_can_fulfil(tmp_path: Path) -> None:
    @tool(effect="write")
    def book() -> None:
        """Book a pickup. It costs money."""

    @tool(effect="read")
    def price() -> float:
        """Find the cheapest parcel."""
        return 1.0

    @tool(effect="read")
    def talk() -> None:
        """Say far more than fits on a button, which nobody would want to read before a click."""

    text = "sources: [{kind: builtin, name: std}]"
    async with client_of(a_board(tmp_path, tools=[book, price, talk], text=text)) as client:
        assert (await overview(client))["examples"] == ["Find the cheapest parcel", "Book a pickup"]


async def test_without_a_sign_in_there_is_no_overview(tmp_path: Path) -> None:
    async with client_of(a_board(tmp_path, token=SecretStr(TOKEN))) as client:
        assert (await client.get("/v1/overview")).status_code == 401


async def test_an_approval_says_where_it_comes_from(tmp_path: Path) -> None:
    model = ScriptedModel(Turn(calls=(("refund", {"invoice": 98}),)))
    async with a_board(tmp_path, model_given=model) as board, client_of(board) as client:
        sent = await board.conversations.send(NewMessage(text="Refund 98"), principal=LOCAL)
        async for event in board.conversations.follow(sent.conversation, principal=LOCAL):
            if event.event == "approval_required":
                break
        (listed,) = (await client.get("/v1/approvals")).json()["approvals"]
        shown = (await client.get(f"/v1/approvals/{listed['id']}")).json()
        decision = {"decision": "deny"}
        decided = (await client.post(f"/v1/approvals/{listed['id']}", json=decision)).json()

        stored = await board.approvals.get(listed["id"], principal=LOCAL)
        (seen,) = await show_approvals(board, [stored], principal=APPROVER)

    assert "conversation" not in seen
    for approval in (listed, shown, decided):
        assert approval["conversation"] == sent.conversation
        assert approval["conversation_title"] == "Refund 98"


@pytest.mark.parametrize("unavailable", [False, True])
async def test_a_list_says_what_may_be_called(board: Pegboard, unavailable: bool) -> None:
    async with client_of(board) as client:
        page = await client.get("/v1/tools", params={"unavailable": unavailable, "limit": 3})
        asked = await client.get("/v1/tools", params={"q": "pay money back"})

    assert (page.json()["total"], len(page.json()["tools"])) == (16, 3)
    verdicts = {item["name"]: item["verdict"] for item in asked.json()["tools"]}
    assert verdicts["refund"] == "ask"
