"""Disabling a person, revoking a key and removing a role hold for what is in progress."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.live import patient
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import PAGE, House
from tests.servers.http.websocket.sockets import connected, served

WAITING = {
    "nodes": [
        {"id": "news", "kind": "wait", "wait": {"event": "news"}},
        {"id": "late", "tool": "note", "input": {"text": "late"}, "edges": ["news"]},
    ]
}
CLOSED = 1008


class Scene:
    """Ada, the operator; Bob, an editor, with a key; a server that listens."""

    def __init__(self, house: House, url: str, ada: Any, bob: Any, key: dict[str, Any]) -> None:
        self.house, self.url, self.ada, self.bob, self.key = house, url, ada, bob, key
        self.bearer = {"Authorization": f"Bearer {key['key']}"}

    async def start(self, client: httpx2.AsyncClient) -> str:
        answer = await client.post("/v1/runs", json={"graph": WAITING})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["run_id"])

    async def state(self, run_id: str) -> str:
        return str((await self.ada.get(f"/v1/runs/{run_id}")).json()["state"])

    async def until(self, run_id: str, *states: str) -> str:
        while (state := await self.state(run_id)) not in states:  # noqa: ASYNC110 - the run goes on by itself
            await asyncio.sleep(0.01)
        return state

    async def ticket(self, client: httpx2.AsyncClient) -> str:
        answer = await client.post("/v1/ws/tickets")
        return f"/v1/ws?ticket={answer.json()['ticket']}"


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncGenerator[Scene]:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board, served(board) as url:
        house = House(board)
        ada = await house.found()
        bob = await house.invite(ada, "editor")
        key = (await bob.post("/v1/keys", json={"name": "ci"})).json()
        yield Scene(house, url, ada, bob, key)


async def disable(scene: Scene) -> None:
    await scene.ada.patch("/v1/people/bob", json={"disabled": True})


async def revoke(scene: Scene) -> None:
    await scene.bob.delete(f"/v1/keys/{scene.key['id']}")


async def read_to_end(scene: Scene, path: str, begun: asyncio.Event, **headers: str) -> int:
    async with (
        patient(base_url=scene.url, headers=scene.bearer | headers) as client,
        client.stream("GET", path) as stream,
    ):
        begun.set()
        async for _ in stream.aiter_bytes():
            pass
        return stream.status_code


@pytest.mark.parametrize("end", [disable, revoke])
async def test_what_is_in_progress_ends_with_the_account_or_the_key(scene: Scene, end: Any) -> None:
    async with scene.house.client(bearer=scene.key["key"]) as program:
        run_id = await scene.start(program)
        begun = asyncio.Event()
        await scene.until(run_id, "waiting")
        path = f"/v1/runs/{run_id}/events"
        following = asyncio.create_task(read_to_end(scene, path, begun))
        async with connected(scene.url, additional_headers=scene.bearer) as socket:
            await begun.wait()
            await end(scene)

            assert (await socket.closed())[0] == CLOSED
        assert await following == 200
        assert (await program.get("/v1/tools")).status_code == 401
    assert await scene.until(run_id, "cancelled", "failed", "completed") == "cancelled"


async def test_a_stream_of_mcp_ends_with_the_key(scene: Scene) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    accept = {"Accept": "application/json, text/event-stream"}
    async with patient(base_url=scene.url, headers=scene.bearer | accept) as client:
        answer = await client.post("/mcp", json=hello)
    begun = asyncio.Event()
    session = {"Mcp-Session-Id": answer.headers["mcp-session-id"], **accept}
    following = asyncio.create_task(read_to_end(scene, "/mcp", begun, **session))
    await begun.wait()

    await revoke(scene)

    assert await following == 200


async def test_what_a_session_does_goes_on_when_a_key_is_revoked(scene: Scene) -> None:
    run_id = await scene.start(scene.bob)
    async with connected(
        scene.url, await scene.ticket(scene.bob), additional_headers=PAGE
    ) as socket:
        async with connected(scene.url, additional_headers=scene.bearer) as other:
            await revoke(scene)
            assert (await other.closed())[0] == CLOSED

        assert (await socket.call("add", a=1, b=2))["status"] == 200
    assert await scene.until(run_id, "waiting", "cancelled") == "waiting"


async def test_a_ticket_is_worth_nothing_once_its_session_has_ended(scene: Scene) -> None:
    path = await scene.ticket(scene.bob)
    await scene.bob.delete("/v1/session")

    with pytest.raises(Exception, match="401"):
        async with connected(scene.url, path, additional_headers=PAGE):
            pass


async def test_a_lost_role_ends_a_socket_and_a_further_one_does_not(scene: Scene) -> None:
    member = "/v1/organisations/acme/members/bob"
    async with connected(
        scene.url, await scene.ticket(scene.bob), additional_headers=PAGE
    ) as socket:
        await scene.ada.put(member, json={"roles": ["editor", "approver"]})
        written = await socket.call("note", text="an editor writes")
        await scene.ada.put(member, json={"roles": ["member"]})
        closed = await socket.closed()

    assert written["status"] == 200
    assert closed[0] == CLOSED


async def test_a_step_after_a_lost_role_is_refused(scene: Scene) -> None:
    run_id = await scene.start(scene.bob)
    await scene.until(run_id, "waiting")
    await scene.ada.put("/v1/organisations/acme/members/bob", json={"roles": ["member"]})

    await scene.bob.post(f"/v1/runs/{run_id}/messages", json={"event": "news", "message": 1})

    assert await scene.until(run_id, "completed", "failed") == "failed"
    error = (await scene.ada.get(f"/v1/runs/{run_id}")).json()["error"]
    assert "needs the role editor" in str(error)


async def test_the_connection_of_the_token_ends_when_accounts_begin(tmp_path: Path) -> None:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board, served(board) as url:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with connected(url, additional_headers=headers) as socket:
            await House(board).found()

            assert (await socket.closed())[0] == CLOSED
