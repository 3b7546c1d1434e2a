"""Two servers on one database agree about whom they let in."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, TOOLS
from tests.servers.http.people import PAGE, House
from tests.servers.http.websocket.sockets import connected, served
from tests.storage.conftest import postgres, postgres_server
from tests.storage.databases.conftest import own_postgres, own_server

from pegboard import Pegboard
from pegboard.runtime import Settings

__all__ = ["own_postgres", "own_server", "postgres", "postgres_server"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

WAITING = {"nodes": [{"id": "news", "kind": "wait", "wait": {"event": "news"}}]}


@pytest.fixture
async def boards(postgres: str) -> AsyncIterator[tuple[Pegboard, Pegboard]]:
    """Two boards on one database."""
    settings = Settings(database=SecretStr(postgres), token=SecretStr(TOKEN), password_memory=1)
    async with (
        Pegboard(settings=settings, tools=TOOLS) as one,
        Pegboard(settings=settings, tools=TOOLS) as other,
    ):
        yield one, other


async def until(client: Any, path: str, status: int) -> None:
    while (await client.get(path)).status_code != status:  # noqa: ASYNC110 - the server looks by itself
        await asyncio.sleep(0.05)


async def test_a_person_who_is_kept_out_on_one_server_is_out_on_the_other(
    boards: tuple[Pegboard, Pegboard],
) -> None:
    here, there = House(boards[0]), House(boards[1])
    ada = await here.found()
    bob = await here.invite(ada, "editor")
    key = (await bob.post("/v1/keys", json={"name": "ci"})).json()["key"]
    async with there.client(bearer=key) as program, served(boards[1]) as url:
        await until(program, "/v1/tools", 200)  # the other server learns that accounts have begun
        run_id = (await program.post("/v1/runs", json={"graph": WAITING})).json()["run_id"]
        ticket = (await bob.post("/v1/ws/tickets")).json()["ticket"]  # of the first server
        async with connected(url, f"/v1/ws?ticket={ticket}", additional_headers=PAGE) as socket:
            assert (await socket.call("add", a=1, b=2))["status"] == 200

            await ada.patch("/v1/people/bob", json={"disabled": True})

            assert (await socket.closed())[0] == 1008
        await until(program, "/v1/tools", 401)
        while True:
            run = (await ada.get(f"/v1/runs/{run_id}")).json()
            if run["state"] not in {"pending", "in_progress", "waiting"}:
                break
            await asyncio.sleep(0.05)

    assert run["state"] == "cancelled"
