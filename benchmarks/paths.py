"""Count the source files that a request passes through: the files to read to follow it.

`python benchmarks/paths.py` prints a table; `-v` lists the files. Each request is made twice: the
first imports and compiles what it needs, the second is traced. A file counts if its code runs.
"""

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

import pegboard
from pegboard import Pegboard, ToolRegistry, tool
from pegboard.servers.http import create_app

SRC = str(Path(pegboard.__file__).parent)
FIRST = {"id": "first", "tool": "double", "input": {"number": 2}}
SECOND = {
    "id": "second",
    "tool": "double",
    "input": {"number": "$.steps.first.output"},
    "edges": [{"node": "first"}],
}
GRAPH = {"nodes": [FIRST, SECOND]}


@tool(effect="read")
async def double(number: int) -> int:
    """Twice a number."""
    return 2 * number


async def main() -> None:
    """Print the table."""
    registry = ToolRegistry([double])
    rows = {"`registry.call`": await files(lambda: registry.call("double", {"number": 2}))}
    with TemporaryDirectory() as folder:
        app = create_app(Pegboard(data=folder, tools=[double]))
        base = "http://127.0.0.1:8321"
        transport = httpx2.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url=base, timeout=30) as client,
            Client(streamable_http_client(f"{base}/mcp", http_client=client)) as mcp,
        ):
            rows["`POST /execute`"] = await files(lambda: execute(client))
            rows["`POST /runs` of two nodes, to its end"] = await files(lambda: run(client))
            rows["MCP `tools/call`"] = await files(lambda: mcp.call_tool("double", {"number": 2}))
    print("| path | files |\n|---|---:|")
    for name, found in rows.items():
        print(f"| {name} | {len(found)} |")
    if "-v" in sys.argv:
        for name, found in rows.items():
            print(f"\n{name}\n  " + "\n  ".join(sorted(found)))


async def run(client: httpx2.AsyncClient) -> None:
    """Start a run over HTTP and wait for its end."""
    started = await client.post("/runs", json={"graph": GRAPH})
    assert started.status_code == 202, started.text
    ended = await client.get(f"/runs/{started.json()['run_id']}", params={"wait": 20})
    assert ended.json()["state"] == "completed", ended.text


async def execute(client: httpx2.AsyncClient) -> None:
    """One call over HTTP, in this process."""
    answer = await client.post("/execute", json={"name": "double", "input": {"number": 2}})
    assert answer.json()["output"] == 4, answer.text


async def files(request: Callable[[], Awaitable[Any]]) -> set[str]:
    """The files of Pegboard in which a function runs while a warm request is answered."""
    await request()
    await asyncio.sleep(0.3)
    found: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(SRC):
            found.add(name.removeprefix(SRC + "/"))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        await request()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


if __name__ == "__main__":
    asyncio.run(main())
