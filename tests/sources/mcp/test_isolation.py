"""One hung, one dead and one silent server beside healthy ones: nobody else notices."""

import asyncio
import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sources.mcp.opening import WORKSHOP, children, over_http, until
from tests.sources.mcp.rogue import PLAIN, result, rogue
from tests.sources.mcp.workshop import server as workshop

from pegboard.core.ports.source import Source
from pegboard.runtime import Pegboard, Settings

_LIST_SECONDS = 12.0
TALKERS = ("noisy", "chatty")


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that accepts connections and says nothing, ever."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(50)
        yield listening.getsockname()[1]


@pytest.fixture
def dead() -> Iterator[int]:
    """A port that nobody listens on, and that nobody else is given meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def _board(folder: Path, *, healthy: str, silent: int, dead: int) -> Path:
    servers = {
        "hung": {"command": "sleep", "args": ["600"]},
        "null": None,
        "noisy": {"command": "yes", "args": ["this is no MCP message"]},
        "chatty": {"command": "yes", "args": ['{"jsonrpc": "2.0", "id": 7, "error": "no"}']},
        "mixed": rogue(tools_list=[result({"tools": [PLAIN, {"name": "no-schema"}]})]),
        "dead": {"url": f"http://127.0.0.1:{dead}/mcp"},
        "silent": {"url": f"http://127.0.0.1:{silent}/mcp"},
        "here": {"command": sys.executable, "args": [str(WORKSHOP)]},
        "there": {"type": "http", "url": healthy},
    }
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    board = folder / "board.yaml"
    board.write_text(
        "network: {allow_hosts: [127.0.0.1]}\n"
        "sources: [{kind: mcp, config: {mcp_json: mcp.json, connect_timeout: 60}}]\n"
    )
    return board


async def _listed(source: Source) -> object:
    return await source.tools()


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_hung_a_dead_and_a_silent_server_hold_nobody_up(
    tmp_path: Path, silent: int, dead: int
) -> None:
    async with over_http(workshop) as door:
        path = _board(tmp_path, healthy=door.url, silent=silent, dead=dead)
        async with Pegboard(path, settings=Settings(list_timeout=_LIST_SECONDS)) as board:
            await board.wait_for_sources()
            states = {state.name: state for state in board.sources}
            await until(lambda: all(state.status != "pending" for state in states.values()))
            names = set(board.registry.names())
            before = door.posts()
            # while the hung and the silent one are asked again, the healthy ones answer
            asked = [states[name].source for name in ("hung", "silent")]
            retries = [asyncio.create_task(_listed(source)) for source in asked if source]
            calls = [
                await board.call(f"{source}__add", {"a": number, "b": 1})
                for source in ("here", "there")
                for number in range(20)
            ]
            still_waiting = [task for task in retries if not task.done()]
            for task in retries:
                task.cancel()
            await asyncio.wait(retries)
            posts = door.posts() - before
            missing = await board.call("dead__add", {"a": 1, "b": 2})
            unasked = {item["name"]: item["health"] for item in board.observe_sources()}
            health = {item["name"]: item["health"] for item in await board.health()}

    assert {name: state.status for name, state in states.items()} == {
        "hung": "failed",
        "dead": "failed",
        "silent": "failed",
        "null": "failed",
        "noisy": "failed",
        "chatty": "failed",
        "mixed": "ok",
        "here": "ok",
        "there": "ok",
    }
    assert states["dead"].reason.endswith(
        "it refuses the connection. Check the url, and that the server runs."
    )
    assert states["hung"].reason == "no answer within 12 s"
    assert states["silent"].reason == "no answer within 12 s"
    assert "mcp.json: the server 'null': is null" in states["null"].reason
    late = "no answer within 12 s"  # where the machine is too slow to hear so much in that time
    ended = "it sent more than 25000 messages in 10 s, so it was ended"
    assert all(late in states[name].reason or ended in states[name].reason for name in TALKERS)
    assert (unasked["mixed"], health["mixed"]) == ("degraded", "degraded")
    assert {"mixed__plain", "here__add", "there__add", "here__wait", "there__wait"} <= names
    assert [call.unwrap() for call in calls] == [
        {"result": number + 1} for _ in range(2) for number in range(20)
    ]
    assert posts == 20  # one request a call: nothing is listed or opened again
    assert len(still_waiting) == 2  # all 40 calls were quicker than the deadline of the others
    assert "its source 'dead' failed" in str(missing.error)
    assert not children()
