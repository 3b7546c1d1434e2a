"""The audit trail through the door: what happened, page by page, and the proof."""

import json
from pathlib import Path

from tests.servers.http.made import a_board, client_of


async def test_refusals_decisions_and_thrown_switches_are_listed_and_the_chain_holds(
    tmp_path: Path,
) -> None:
    board = a_board(tmp_path, data=tmp_path / "data")
    async with client_of(board) as client:
        call = {"name": "refund", "input": {"invoice": 4711}}
        approval = (await client.post("/execute", json=call)).json()["approval_id"]
        await client.post(f"/approvals/{approval}", json={"decision": "approve"})
        await client.post("/execute", json=call)
        await client.post("/execute", json={"name": "add", "input": {"a": 1}})
        board.registry.switches.turn_off(writes=True, reason="an incident")
        body = (await client.get("/audit")).json()
        records = [item for item in body["records"] if item["kind"] != "source"]
        first = (await client.get("/audit", params={"limit": 1})).json()
        approvals = (await client.get("/v1/audit", params={"kind": "approval"})).json()
        report = (await client.get("/audit/verify")).json()
        anchor = f"{report['last']}:{report['head']}"
        anchored = (await client.get("/audit/verify", params={"anchor": anchor})).json()
        forged = f"{report['last']}:{'0' * 64}"
        wrong = (await client.get("/audit/verify", params={"anchor": forged})).json()

    bodies = [json.loads(item["body"]) for item in records]
    assert [
        (item["kind"], said.get("state") or said.get("status") or said["action"])
        for item, said in zip(records, bodies, strict=True)
    ] == [
        ("approval", "pending"),
        ("call", "approval_needed"),
        ("approval", "approved"),
        ("approval", "used"),
        ("call", "completed"),
        ("switch", "turned_off"),
    ]
    assert "4711" not in str(bodies)
    assert first["next_after"] == first["records"][0]["sequence"]
    assert len(approvals["records"]) == 3
    assert (report["intact"], anchored["intact"], wrong["intact"]) == (True, True, False)
    assert wrong["sequence"] == report["last"]
