"""Approvals through the door: asked, shown, decided once, and the call made again."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.live import until
from tests.servers.http.made import TOKEN, a_board, client_of
from tests.servers.http.people import House


async def refund(client: httpx2.AsyncClient, invoice: int = 1) -> dict[str, Any]:
    return (
        await client.post("/execute", json={"name": "refund", "input": {"invoice": invoice}})
    ).json()


async def test_a_call_is_asked_about_approved_and_made_again(client: httpx2.AsyncClient) -> None:
    problem = await refund(client)
    approval = problem["approval_id"]
    pending = (await client.get("/approvals", params={"state": "pending"})).json()
    shown = (await client.get(f"/v1/approvals/{approval}")).json()
    decided = await client.post(
        f"/approvals/{approval}", json={"decision": "approve", "note": "ok"}
    )
    done = await refund(client)
    again = await refund(client)
    used = (await client.get(f"/approvals/{approval}")).json()

    assert (problem["status"], problem["code"]) == (409, "approval_required")
    assert pending == {"approvals": [shown], "next_cursor": None}
    assert (shown["state"], shown["tool"], shown["arguments"]) == (
        "pending",
        "refund",
        {"invoice": 1},
    )
    assert (decided.status_code, decided.json()["state"], decided.json()["note"]) == (
        200,
        "approved",
        "ok",
    )
    assert (done["status"], done["output"]) == ("completed", "refunded 1")
    assert (again["code"], again["approval_id"] != approval) == ("approval_required", True)
    assert (used["state"], used["call_id"]) == ("used", done["metadata"]["call_id"])


async def test_an_approval_names_people_with_accounts(tmp_path: Path) -> None:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        house = House(board)
        ada = await house.found()
        bob = await house.invite(ada, "editor", "approver")
        await bob.patch("/v1/account", json={"name": "ada"})
        wanted = {"name": "refund", "input": {"invoice": 1}}
        asked = (await bob.post("/v1/execute", json=wanted)).json()
        path = f"/v1/approvals/{asked['approval_id']}"
        await ada.post(path, json={"decision": "deny"})
        shown = (await bob.get(path)).json()

    assert (shown["principal_name"], shown["principal_handle"]) == ("ada", "bob")
    assert (shown["decided_by_name"], shown["decided_by_handle"]) == ("ada", "ada")


async def test_an_edited_call_runs_with_other_arguments(client: httpx2.AsyncClient) -> None:
    approval = (await refund(client))["approval_id"]
    body = {"decision": "edit", "arguments": {"invoice": 2}}

    assert (await client.post(f"/approvals/{approval}", json=body)).json()["edited"] == {
        "invoice": 2
    }
    assert (await refund(client))["output"] == "refunded 2"


async def test_a_denied_call_is_refused_with_the_note(client: httpx2.AsyncClient) -> None:
    approval = (await refund(client))["approval_id"]
    await client.post(f"/approvals/{approval}", json={"decision": "deny", "note": "no"})
    problem = await refund(client)

    assert (problem["status"], problem["code"]) == (403, "access_denied")
    assert problem["detail"] == "Access to 'refund' denied: the user refused it: no"


@pytest.mark.parametrize(
    ("approval", "body", "status", "code"),
    [
        ("ap_none", {"decision": "deny"}, 404, "approval_not_found"),
        ("", {"decision": "edit"}, 400, "request_invalid"),
        ("", {"decision": "edit", "arguments": {"invoice": "x"}}, 422, "arguments_invalid"),
        ("", {"decision": "maybe"}, 422, "request_invalid"),
    ],
    ids=["unknown", "nothing to edit", "it does not fit", "no decision"],
)
async def test_a_wrong_decision_is_told(
    client: httpx2.AsyncClient, approval: str, body: Any, status: int, code: str
) -> None:
    asked = (await refund(client))["approval_id"]

    answer = await client.post(f"/approvals/{approval or asked}", json=body)

    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_who_comes_second_is_told_so(client: httpx2.AsyncClient) -> None:
    approval = (await refund(client))["approval_id"]
    await client.post(f"/approvals/{approval}", json={"decision": "deny"})
    late = await client.post(f"/approvals/{approval}", json={"decision": "approve"})

    assert (late.status_code, late.json()["code"]) == (409, "approval_decided")


async def test_who_comes_too_late_is_told_so(tmp_path: Path) -> None:
    async with client_of(a_board(tmp_path, approval_ttl=0.001)) as client:
        approval = (await refund(client))["approval_id"]
        late = await client.post(f"/approvals/{approval}", json={"decision": "approve"})

    assert (late.status_code, late.json()["code"]) == (410, "approval_expired")


async def test_a_cursor_of_somebody_else_leads_nowhere(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/approvals", params={"cursor": "none"})

    assert answer.status_code == 404


async def test_pages_follow_each_other(client: httpx2.AsyncClient) -> None:
    for invoice in range(3):
        await refund(client, invoice)
    first = (await client.get("/approvals", params={"limit": 2})).json()
    rest = (await client.get("/approvals", params={"cursor": first["next_cursor"]})).json()

    shown = [item["arguments"]["invoice"] for item in first["approvals"] + rest["approvals"]]
    assert shown == [2, 1, 0]


PAYING = {"nodes": [{"id": "pay", "tool": "refund", "input": {"invoice": 9}}]}


async def test_a_cancelled_run_leaves_the_inbox_and_the_trail_tells_who(tmp_path: Path) -> None:
    board = a_board(tmp_path, data=tmp_path)
    async with client_of(board) as client:
        run_id = (await client.post("/runs", json={"graph": PAYING})).json()["run_id"]
        waiting = (await client.get(f"/runs/{run_id}", params={"wait": 8})).json()
        approval = waiting["pending"][0]["approval_id"]
        await client.post(f"/runs/{run_id}/cancel")
        inbox = (await client.get("/approvals", params={"state": "pending"})).json()["approvals"]
        late = await client.post(f"/approvals/{approval}", json={"decision": "approve"})
        kept = (await client.get(f"/approvals/{approval}")).json()
        trail = (await client.get("/audit", params={"kind": "run"})).json()["records"]

    assert waiting["state"] == "waiting"
    assert inbox == []
    assert (late.status_code, late.json()["code"]) == (409, "approval_decided")
    assert "withdrawn: the run was cancelled" in late.text
    assert kept["state"] == "withdrawn"
    assert [
        {name: json.loads(record["body"])[name] for name in ("action", "subject", "by")}
        for record in trail
    ] == [{"action": "cancelled", "subject": run_id, "by": "local"}]


@pytest.mark.timeout(60)
async def test_a_failed_run_leaves_the_inbox_by_itself(client: httpx2.AsyncClient) -> None:
    body = {"graph": {**PAYING, "timeout": 6}}  # it asks long before
    run_id = (await client.post("/runs", json=body)).json()["run_id"]
    waiting = (await client.get(f"/runs/{run_id}", params={"wait": 8})).json()
    approval = waiting["pending"][0]["approval_id"]

    async def is_withdrawn() -> bool:
        return (await client.get(f"/approvals/{approval}")).json()["state"] == "withdrawn"

    await until(is_withdrawn)
    ended = (await client.get(f"/runs/{run_id}", params={"wait": 8})).json()

    assert (waiting["state"], ended["state"]) == ("waiting", "failed")
