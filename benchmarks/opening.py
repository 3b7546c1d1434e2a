"""Opening a board in a program, and the memory of a large API."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import peak_mb, process_clock
from pegboard.runtime import Pegboard, Settings
from table import goal, number, section, table

TIMES = 10
OPERATIONS = 20_000
MOST_MS = 60


async def cost_of_opening() -> str:
    """CPU of opening and closing a board, and the memory of 20,000 operations."""
    with TemporaryDirectory() as folder:
        kept = [await _open(Path(folder) / str(number)) for number in range(TIMES)]
    in_memory = [await _open("memory") for _ in range(TIMES)]
    rows = [
        ["in memory", number(in_memory[0]), number(min(in_memory[1:]))],
        ["in a new data directory", number(kept[0]), number(min(kept[1:]))],
    ]
    before, with_all = _memory()
    large = f"peak memory with {OPERATIONS:,} operations of one API"
    return section(
        "Opening a board",
        table(["", "CPU of the first, ms", "CPU of another, ms"], rows),
        "The first of all, in a data directory, imports what they need.",
        goal("another in a data directory", min(kept[1:]), MOST_MS, unit=" ms"),
        f"* {large}: {with_all:.0f} MB; without: {before:.0f} MB",
    )


async def _open(data: Path | str) -> float:
    began = process_clock(os.getpid())
    async with Pegboard(settings=Settings(data=data)):
        pass
    return (process_clock(os.getpid()) - began) * 1e3


def _memory() -> tuple[float, float]:
    """MB of a process without and with the board of a large document."""
    with TemporaryDirectory() as folder:
        document, board = Path(folder) / "api.json", Path(folder) / "board.yaml"
        document.write_text(json.dumps(_document()))
        board.write_text(
            f"sources: [{{kind: openapi, name: big, config: {{document: {document}}}}}]\n"
        )
        done = subprocess.run(
            [sys.executable, __file__, str(board)], capture_output=True, text=True, check=True
        )
    before, with_all = map(float, done.stdout.split())
    return before, with_all


def _document() -> dict[str, Any]:
    record = {"type": "object", "properties": {f"p{key}": {"type": "string"} for key in range(10)}}
    reference = {"$ref": "#/components/schemas/Record"}
    answer = {"description": "ok", "content": {"application/json": {"schema": reference}}}
    limit = {"type": "integer", "minimum": 1, "maximum": 100}

    def operation(place: int) -> dict[str, Any]:
        return {
            "operationId": f"get_thing_{place}",
            "summary": f"Get thing {place}",
            "description": "Returns one thing by its id, with all that belongs to it. " * 3,
            "tags": ["things"],
            "parameters": [
                {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                {"name": "limit", "in": "query", "schema": limit},
                {"name": "filter", "in": "query", "schema": reference},
            ],
            "responses": {"200": answer},
        }

    return {
        "openapi": "3.1.0",
        "info": {"title": "Things", "version": "1"},
        "servers": [{"url": "https://api.example.com"}],
        "paths": {
            f"/things{place}/{{id}}": {"get": operation(place)} for place in range(OPERATIONS)
        },
        "components": {"schemas": {"Record": record}},
    }


async def _measure(board: Path) -> None:
    async with Pegboard(settings=Settings(data="memory")):
        before = peak_mb(os.getpid())
    settings = Settings(board=board, data="memory", list_timeout=600)
    async with Pegboard(settings=settings) as opened:
        await opened.wait_for_sources()
        if len(opened.registry) <= OPERATIONS:
            raise RuntimeError("some operations are missing")
        print(before, peak_mb(os.getpid()))


if __name__ == "__main__":
    asyncio.run(_measure(Path(sys.argv[1])))
