"""Kill switches of servers that share a database: followed soon, kept while it is away."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.durability.served import STANDSTILL, Server, a_board
from tests.servers.http.made import client_of
from tests.storage.conftest import postgres, postgres_server
from tests.storage.databases.conftest import own_postgres, own_server

from pegboard import Pegboard, ToolRegistry
from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.kill_switch_store import Switch
from pegboard.core.principal import LOCAL
from pegboard.errors import Unavailable
from pegboard.features.kill_switches import KillSwitches
from pegboard.runtime import Settings
from pegboard.runtime.wiring.kill_switches import follow
from pegboard.storage.memory.kill_switches import MemorySwitches

__all__ = ["own_postgres", "own_server", "postgres", "postgres_server"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

_UNSEEN = "kill switches: the shared state could not be read"
OFF = {"turn": "off", "kind": "tool", "name": "builtin__*", "reason": "a fire"}


@pytest.fixture
async def boards(postgres: str) -> AsyncIterator[tuple[Pegboard, Pegboard]]:
    """Two boards on one database."""
    settings = Settings(database=SecretStr(postgres))
    async with Pegboard(settings=settings) as one, Pegboard(settings=settings) as other:
        yield one, other


async def echo(board: Pegboard) -> str:
    result = await board.call("builtin__echo", {"message": "x"})
    return str(result.error) if result.error else result.text


async def until(board: Pegboard, answer: str) -> float:
    """Seconds until a call of this board is answered so."""
    began = STANDSTILL.clock()
    while await echo(board) != answer:  # noqa: ASYNC110 - the other board looks by itself
        await asyncio.sleep(0.02)
    return STANDSTILL.clock() - began


async def readiness(client: httpx2.AsyncClient) -> dict[str, Any]:
    """What the probe says of all but the sources."""
    answer = await client.get("/readyz")
    assert answer.status_code == 200
    return {key: answer.json()[key] for key in ("status", "problem")}


async def test_another_server_follows_within_two_seconds(boards: tuple[Pegboard, ...]) -> None:
    one, other = boards
    await one.switches.off("source", "builtin", reason="a fire", principal=LOCAL)
    at_once = await echo(one)
    off = await until(other, "Access to 'builtin__echo' denied: a fire")
    await other.switches.on("source", "builtin", principal=LOCAL)
    on = await until(one, "x")

    assert at_once == "Access to 'builtin__echo' denied: a fire"
    assert max(off, on) < 2


async def test_a_board_that_opens_later_knows_what_is_off(
    boards: tuple[Pegboard, ...], postgres: str
) -> None:
    await boards[0].switches.off("writes", reason="a fire", principal=LOCAL)
    async with Pegboard(settings=Settings(database=SecretStr(postgres))) as later:
        [thrown] = await later.switches.list(principal=LOCAL)

    assert (thrown.switch.kind, thrown.switch.reason) == ("writes", "a fire")


async def test_while_the_database_is_away_what_was_off_stays_off_and_that_is_said_once(
    own_server: Any, own_postgres: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(database=SecretStr(own_postgres))
    async with Pegboard(settings=settings) as board, client_of(board) as client:
        await board.switches.off("tool", "builtin__echo", reason="a fire", principal=LOCAL)
        following = asyncio.create_task(follow(board.switches, every=0.05))
        ready = await readiness(client)
        await asyncio.to_thread(own_server.stop)
        with caplog.at_level(logging.WARNING, logger="pegboard.switches"):
            while _UNSEEN not in caplog.text:  # noqa: ASYNC110 - the follower looks by itself
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.5)
        writes = await board.switches.off("writes", principal=LOCAL)  # which nothing prevents
        with pytest.raises(Unavailable):
            await board.switches.on("tool", "builtin__echo", principal=LOCAL)
        refused, away = await echo(board), await readiness(client)
        await asyncio.to_thread(own_server.start)
        await board.switches.on("tool", "builtin__echo", principal=LOCAL)
        done = await echo(board)
        while not all([thrown.is_stored for thrown in await board.switches.list(principal=LOCAL)]):  # noqa: ASYNC110, C419 - the board stores it by itself; it is awaited once
            await asyncio.sleep(0.05)
        async with Pegboard(settings=settings) as other:
            thrown = [item.switch for item in await other.switches.list(principal=LOCAL)]
        ready_again = await readiness(client)
        following.cancel()
        await asyncio.wait([following])

    assert ready == {"status": "ready", "problem": ""}
    # a write that failed while the database was away is shown for a minute
    assert ready_again["status"] in {"ready", "degraded"}
    assert ready_again["problem"] in {"", "The storage is unavailable: it cannot be reached."}
    assert away["status"] == "degraded"
    assert away["problem"] == "The storage is unavailable: it cannot be reached."
    assert (writes.is_stored, thrown) == (False, [writes.switch])
    assert (refused, done) == ("Access to 'builtin__echo' denied: a fire", "x")
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    seen = [line for line in said if line.startswith(_UNSEEN)]
    assert 1 <= len(seen) <= 2  # the board's own follower may say it too


def test_servers_that_are_processes_of_their_own_follow_each_other_and_survive_a_kill(
    tmp_path: Path, postgres: str
) -> None:
    folder = a_board(tmp_path)
    environment = {"PEGBOARD_DATABASE": postgres}
    request = {"name": "std__echo", "input": {"message": "x"}}
    with Server(folder, environment=environment) as one:
        with Server(folder, environment=environment) as other:
            tools = other.get("/tools")["tools"]
            name = next(item["name"] for item in tools if item["effect"] == "read")
            thrown = one.client.post("/switches", json=OFF | {"name": name})
            began, status = STANDSTILL.clock(), 0
            while status != 403 and STANDSTILL.clock() - began < 10:
                status = other.client.post("/execute", json=request | {"name": name}).status_code
            took = STANDSTILL.clock() - began
        one.kill()
    with Server(folder, environment=environment) as again:
        [kept] = again.get("/switches")["switches"]
        trail = again.get("/audit?kind=switch")["records"]

    assert thrown.json()["tools"] == 1
    assert (status, took < 2.5) == (403, True)
    assert (kept["name"], kept["reason"], kept["kept"]) == (name, "a fire", True)
    assert len(trail) == 1


class _Odd(MemorySwitches):
    """A store that once fails in a way that nobody foresaw."""

    faults = 1

    async def switches(self) -> Sequence[Switch]:
        self.faults -= 1
        if self.faults >= 0:
            raise ValueError("odd")
        return await super().switches()


async def test_a_failure_that_nobody_foresaw_does_not_end_the_following(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store, registry = _Odd(ClosableLock()), ToolRegistry()
    await store.put(Switch(kind="writes", name="", reason="a fire", at=1.0))
    following = asyncio.create_task(follow(KillSwitches(registry, store), every=0.01))
    while not registry.environment.switches.state()["writes"]:  # noqa: ASYNC110 - the follower looks by itself
        await asyncio.sleep(0.01)
    following.cancel()
    await asyncio.wait([following])

    assert "ValueError: odd" in caplog.text
