"""What `POST /tools/bulk` costs: ten thousand tools, kept in SQLite, through the door."""

import asyncio
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from pegboard.runtime import Pegboard, Settings
from pegboard.servers.http import create_app
from table import goal, number, section, table

MANY = 10_000
NEW = "new"
AGAIN = "the same once more"
CHANGED = "each with another description"
FUNCTION = """
def shout(text: str) -> str:
    return text.upper()
"""
BOARD = """
sources: []
catalogue: {imports: ["bulk_functions:*"], scripts: [scripts]}
"""
BY_TYPE: tuple[dict[str, Any], ...] = (
    {},
    {
        "type": "PythonFunction",
        "import": "bulk_functions:shout",
        "input_schema": {"text": "string"},
    },
    {"type": "LocalScript", "script_path": "scripts/say.py"},
    {"type": "MCPTool", "server": "files", "tool": "read"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Seconds of one request.

    Attributes:
        cpu: Of the process.
        wall: Until the answer.
        held: CPU of the longest time for which nothing else in the process had a turn.
    """

    cpu: float
    wall: float
    held: float


async def cost_of_bulk() -> str:
    """The table; in memory nothing is kept, so that the difference is what SQLite takes."""
    with tempfile.TemporaryDirectory() as folder:
        kept = await _measured(Settings(data=Path(folder)))
    memory = await _measured(Settings())
    costs = kept | {f"{what}, in memory": cost for what, cost in memory.items()}
    return section(
        "Registering 10,000 tools with one request",
        _table(costs),
        goal("10,000 new tools, kept in SQLite", kept[NEW].wall, 5, unit=" s"),
    )


async def cost_of_types() -> str:
    """The same with tools of several types."""
    mixed = await _mixed()
    return section(
        "Registering 10,000 tools of four types with one request",
        _table({"new": mixed}),
        "\n".join(
            [
                goal("10,000 tools of four types", mixed.wall, 5, unit=" s"),
                goal("held at a time", mixed.held * 1000, 100, unit=" ms"),
            ]
        ),
    )


def _table(costs: dict[str, Cost]) -> str:
    rows = [
        [what, number(cost.cpu), number(cost.wall), number(cost.held * 1000)]
        for what, cost in costs.items()
    ]
    return table(["", "CPU, s", "wall, s", "held at a time, ms of CPU"], rows)


async def _measured(settings: Settings) -> dict[str, Cost]:
    requests = {NEW: "", AGAIN: "", CHANGED: "Another one."}
    async with Pegboard(settings=settings) as board, _client(board) as client:
        return {
            what: await _cost(client, [_tool(index, words) for index in range(MANY)])
            for what, words in requests.items()
        }


async def _mixed() -> Cost:
    """Of each type a quarter, all of one function and one script, which the operator allows."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "bulk_functions.py").write_text(FUNCTION)
        (here / "scripts").mkdir()
        (here / "scripts" / "say.py").write_text("print('said')\n")
        (here / "board.yaml").write_text(BOARD)
        settings = Settings(data=here / "data")
        tools = [_of_type(index) for index in range(MANY)]
        file = here / "board.yaml"
        async with Pegboard(file, settings=settings) as board, _client(board) as client:
            return await _cost(client, tools)


def _client(board: Pegboard) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=create_app(board))
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1")


async def _cost(client: httpx2.AsyncClient, tools: list[dict[str, Any]]) -> Cost:
    body = json.dumps({"tools": tools}).encode()
    await client.get("/healthz")  # the framework makes its routes with the first request
    held: list[float] = []
    beating = asyncio.create_task(_beat(held))
    await asyncio.sleep(0.05)
    wall, cpu = time.perf_counter(), time.process_time()
    answer = await client.post(
        "/tools/bulk", content=body, headers={"Content-Type": "application/json"}, timeout=120
    )
    taken, until = time.process_time() - cpu, time.perf_counter()
    await asyncio.sleep(0.05)
    beating.cancel()
    answer.raise_for_status()
    return Cost(cpu=taken, wall=until - wall, held=max(held))


async def _beat(held: list[float]) -> None:
    """Tell what the thread of the loop did between two turns of this task."""
    last = time.thread_time()
    while True:
        await asyncio.sleep(0.005)
        now = time.thread_time()
        held.append(now - last)
        last = now


def _tool(index: int, words: str) -> dict[str, Any]:
    return {
        "tool_id": f"tool_{index}_v1",
        "name": f"Tool {index}",
        "description": f"Does the thing number {index}. {words}",
        "type": "RestAPI",
        "url": f"https://api.example.com/things/{index}",
        "method": "GET",
        "capabilities": ["find", f"thing_{index % 50}"],
        "input_schema": {"query": "string", "limit": "integer"},
        "output_schema": {"results": "list"},
        "timeout_ms": 5000,
    }


def _of_type(index: int) -> dict[str, Any]:
    """One of the four types in turn."""
    said = BY_TYPE[index % len(BY_TYPE)]
    tool = _tool(index, "")
    if said:
        del tool["url"], tool["method"]
    return tool | said
