"""What `POST /tools/bulk` costs: ten thousand REST tools, kept in SQLite, through the door."""

import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from pegboard.runtime import Pegboard, Settings
from pegboard.servers.http.app import create_app
from table import goal, number, section, table

MANY = 10_000
NEW = "new"
AGAIN = "the same once more"
CHANGED = "each with another description"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Seconds of one request."""

    cpu: float
    wall: float


async def cost_of_bulk() -> str:
    """The table; in memory nothing is kept, so that the difference is what SQLite takes."""
    with tempfile.TemporaryDirectory() as folder:
        kept = await _measured(Settings(data=Path(folder)))
    rows = [[what, number(cost.cpu), number(cost.wall)] for what, cost in kept.items()]
    memory = await _measured(Settings())
    rows += [
        [f"{what}, in memory", number(cost.cpu), number(cost.wall)] for what, cost in memory.items()
    ]
    return section(
        "Registering 10,000 tools with one request",
        table(["", "CPU, s", "wall, s"], rows),
        goal("10,000 new tools, kept in SQLite", kept[NEW].wall, 5, unit=" s"),
    )


async def _measured(settings: Settings) -> dict[str, Cost]:
    requests = {NEW: "", AGAIN: "", CHANGED: "Another one."}
    async with Pegboard(settings=settings) as board:
        transport = httpx2.ASGITransport(app=create_app(board))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return {what: await _cost(client, words) for what, words in requests.items()}


async def _cost(client: httpx2.AsyncClient, words: str) -> Cost:
    body = json.dumps({"tools": [_tool(index, words) for index in range(MANY)]}).encode()
    wall, cpu = time.perf_counter(), time.process_time()
    answer = await client.post(
        "/tools/bulk", content=body, headers={"Content-Type": "application/json"}, timeout=120
    )
    taken = Cost(cpu=time.process_time() - cpu, wall=time.perf_counter() - wall)
    answer.raise_for_status()
    return taken


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
