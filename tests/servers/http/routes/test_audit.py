"""The audit trail through the door: what happened, page by page, and the proof."""

import json
from pathlib import Path

from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board, client_of
from tests.servers.http.people import House


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


async def test_the_newest_records_come_first_where_asked_for(tmp_path: Path) -> None:
    board = a_board(tmp_path, data=tmp_path / "data")
    async with client_of(board) as client:
        for reason in ("one", "two", "three"):
            board.registry.switches.turn_off(writes=True, reason=reason)
            board.registry.switches.turn_on(writes=True)
        query = {"order": "newest", "kind": "switch", "limit": "2"}
        first = (await client.get("/audit", params=query)).json()
        before = {"before": str(first["next_before"])}
        second = (await client.get("/audit", params=query | before)).json()

    sequences = [item["sequence"] for body in (first, second) for item in body["records"]]
    assert sequences == sorted(sequences, reverse=True)
    assert len(sequences) == 4
    assert first["next_after"] is None


async def test_an_export_has_all_records_of_the_tenant_and_is_refused_to_others(
    tmp_path: Path,
) -> None:
    async with a_board(tmp_path, token=SecretStr(TOKEN), data=tmp_path / "data") as board:
        house = House(board)
        ada = await house.found()
        bob = await house.invite(ada, "editor")
        export = await ada.get("/v1/audit/export")
        listed = (await ada.get("/v1/audit", params={"limit": "1000"})).json()
        refused = await bob.get("/v1/audit/export")

    lines = [json.loads(line) for line in export.text.splitlines()]
    assert lines[: len(listed["records"])] == listed["records"]
    assert export.headers["content-type"] == "application/x-ndjson"
    assert "ada" in listed["names"].values()
    assert listed["handles"].keys() == listed["names"].keys()
    assert "ada" in listed["handles"].values()
    assert refused.status_code == 403
