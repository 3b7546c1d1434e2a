"""A run asks another person than the one who started it."""

from pathlib import Path

import httpx2
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House

ASK = {"id": "ask", "kind": "wait", "wait": {"question": "Well?", "assignee": "bob"}}
GRAPH = {"nodes": [ASK]}


async def start(client: httpx2.AsyncClient) -> str:
    """The id of a run that waits for its answer."""
    run = (await client.post("/v1/runs", json={"graph": GRAPH})).json()["run_id"]
    view = (await client.get(f"/v1/runs/{run}", params={"wait": 10})).json()
    assert view["state"] == "waiting"
    return str(run)


async def test_whom_a_run_asks_answers_although_the_run_is_another_persons(tmp_path: Path) -> None:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        house = House(board)
        ada = await house.found()
        bob = await house.invite(ada, "member")
        link = await house.make_link(ada, organisation="acme")
        eve = await house.join(link, {"handle": "eve", "password": "correct horse"})
        run = await start(ada)
        answer = {"pending_id": "ask", "answer": "fine"}

        listed = (await bob.get("/v1/runs", params={"assigned": True})).json()["runs"]
        needs = (await bob.get("/v1/overview")).json()["needs_you"]
        refused = await eve.post(f"/v1/runs/{run}/answers", json=answer)
        shown = (await bob.get(f"/v1/runs/{run}")).json()
        answered = await bob.post(f"/v1/runs/{run}/answers", json=answer)

        assert refused.status_code == 404
        assert [(item["run_id"], item["params"], item["nodes"]) for item in listed] == [
            (run, {}, [])
        ]
        assert [(item["message"], item["run"]["run_id"]) for item in needs["items"]] == [
            ("Well?", run)
        ]
        assert (await bob.get("/v1/runs")).json()["runs"] == []
        assert (await eve.get("/v1/runs", params={"assigned": True})).json()["runs"] == []
        assert [item["message"] for item in shown["pending"]] == ["Well?"]
        assert (answered.status_code, answered.json()["nodes"]) == (200, [])
        done = (await ada.get(f"/v1/runs/{run}", params={"wait": 10})).json()
        assert (done["state"], done["nodes"][0]["output"]) == ("completed", "fine")
        assert (await bob.get(f"/v1/runs/{run}")).status_code == 404
        assert (await bob.get("/v1/runs", params={"assigned": True})).json()["runs"] == []


async def test_a_run_asks_nobody_whom_its_caller_may_not_see(tmp_path: Path) -> None:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        house = House(board)
        ada = await house.found()
        bob = await house.invite(ada, "member")
        await ada.post("/v1/organisations", json={"handle": "zoo"})
        link = await house.make_link(ada, organisation="zoo", roles=["editor"])
        eve = await house.join(link, {"handle": "eve", "password": "correct horse"})
        run = await start(eve)
        answer = {"pending_id": "ask", "answer": "sk-123"}

        assert (await bob.get("/v1/runs", params={"assigned": True})).json()["runs"] == []
        assert (await bob.get(f"/v1/runs/{run}")).status_code == 404
        assert (await bob.post(f"/v1/runs/{run}/answers", json=answer)).status_code == 404
