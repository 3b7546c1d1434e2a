from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import LOOPBACK, TOKEN, a_board, board_file, client_of
from tests.servers.http.people import House

from pegboard.errors import ConfigError
from pegboard.servers.http import create_app
from pegboard.storage.databases.transaction import Transaction

WHOLE = """
sources:
  - {kind: builtin, name: std}
"""
HALF = f"""{WHOLE}
  - {{kind: functions, name: gone, config: {{modules: [there_is_none]}}}}
"""


@pytest.mark.parametrize("path", ["/healthz", "/v1/healthz"])
async def test_a_process_that_answers_is_alive(client: httpx2.AsyncClient, path: str) -> None:
    answer = await client.get(path)

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_an_open_board_is_ready(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ready",
        "counts": {},
        "sources": [],
        "rules": [],
        "tools": 17,
        "problem": "",
    }


async def test_rules_that_match_no_tool_are_told_apart_from_those_of_a_failed_source(
    tmp_path: Path,
) -> None:
    policy = 'policy: {deny: ["std__eccho", "gone__*"], allow: ["nothing"]}'
    async with client_of(a_board(tmp_path, text=HALF + policy)) as client:
        rules = (await client.get("/readyz")).json()["rules"]

    assert rules == [
        {
            "rule": "deny",
            "glob": "std__eccho",
            "where": "board.yaml:6",
            "reason": "it matches no tool; did you mean 'std__echo'?",
        },
        {
            "rule": "deny",
            "glob": "gone__*",
            "where": "board.yaml:6",
            "reason": "no tool yet: source 'gone' failed",
        },
    ]


async def test_a_failed_source_degrades_the_board_and_leaves_it_ready(tmp_path: Path) -> None:
    async with client_of(a_board(tmp_path, text=HALF)) as client:
        answer = await client.get("/readyz")
        works = await client.post(
            "/execute", json={"name": "std__echo", "input": {"message": "hello"}}
        )

    body = answer.json()
    assert answer.status_code == 200
    assert body["status"] == "degraded"
    assert [(item["name"], item["status"]) for item in body["sources"]] == [("gone", "failed")]
    assert "there_is_none" in body["sources"][0]["reason"]
    assert works.status_code == 200


async def test_others_are_told_counts_and_of_sources_that_they_may_see(tmp_path: Path) -> None:
    async with a_board(tmp_path, text=HALF, token=SecretStr(TOKEN)) as board:
        house = House(board)
        ada = await house.found()
        bob = await house.invite(ada, "editor")
        async with house.client() as stranger:
            alone = (await stranger.get("/v1/readyz")).json()
        member = (await bob.get("/v1/readyz")).json()
        operator = (await ada.get("/v1/readyz")).json()

    counts = {"ok": 1, "failed": 1}
    assert alone == {"status": "degraded", "counts": counts}
    assert member == {"status": "degraded", "counts": counts, "sources": []}
    assert operator["counts"] == counts
    assert [item["name"] for item in operator["sources"]] == ["gone"]


async def test_connectors_of_everybody_are_counted_and_no_others(tmp_path: Path) -> None:
    connector = {"kind": "connector", "source_kind": "openapi"}
    actions = [{"name": "list_orders", "path": "/orders"}]
    config = {"base_url": "https://a.example", "actions": actions}
    async with a_board(tmp_path, text=WHOLE, token=SecretStr(TOKEN)) as board:
        house = House(board)
        ada = await house.found()
        for name, visibility in (("mine", "private"), ("shared", "global")):
            wanted = {**connector, "name": name, "config": config, "visibility": visibility}
            added = await ada.post("/v1/resources", json=wanted)
            assert added.status_code == 201, added.text
        async with house.client() as stranger:
            counts = (await stranger.get("/v1/readyz")).json()["counts"]

    assert sum(counts.values()) == 2


async def test_a_refused_change_of_the_file_degrades_the_board(tmp_path: Path) -> None:
    board = a_board(tmp_path)
    async with client_of(board) as client:
        board_file(tmp_path, "souces: []")
        with pytest.raises(ConfigError):
            await board.reload()
        body = (await client.get("/readyz")).json()

    assert body["status"] == "degraded"
    assert "souces" in body["problem"]


async def test_a_full_disk_degrades_the_board_and_calls_that_need_it_say_when_to_try_again(
    tmp_path: Path,
) -> None:
    board = a_board(tmp_path, text=WHOLE, data=tmp_path / "data")

    def fill(transaction: Transaction) -> None:
        pages = transaction.driver.execute("PRAGMA page_count").fetchone()[0]
        transaction.driver.execute(f"PRAGMA max_page_count = {pages}")

    async with client_of(board) as client:
        await cast("Any", board)._open.storage._database.run(fill)
        graph = {"nodes": [{"id": "one", "tool": "std__echo", "input": {"message": "x" * 90_000}}]}
        refused = await client.post("/runs", json={"graph": graph})
        body = (await client.get("/readyz")).json()

    assert (refused.status_code, refused.headers.get("retry-after")) == (503, "30")
    assert body["status"] == "degraded"
    assert body["problem"] == "The storage is unavailable: its disk is full."


@pytest.mark.parametrize("path", ["/readyz", "/tools", "/metrics", "/history"])
async def test_a_board_that_is_not_open_is_not_ready(tmp_path: Path, path: str) -> None:
    app = create_app(a_board(tmp_path))
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app), base_url=LOOPBACK
    ) as client:
        alive = await client.get("/healthz")
        answer = await client.get(path)

    assert alive.status_code == 200
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["detail"] == "The board is not open."
