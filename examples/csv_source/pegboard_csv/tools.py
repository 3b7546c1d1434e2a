"""One CSV file as one tool."""

import asyncio
import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pegboard import SchemaTool, ToolContext
from pegboard.core.tool import Effect, Tool, ToolSpec
from pegboard.core.wire_names import wire_name
from pegboard.errors import SourceUnavailable, ToolFailed


def tool_of(source: str, file: Path, *, max_rows: int) -> Tool:
    """A tool that finds rows of this file.

    Raises:
        SourceUnavailable: The file has no header.
    """
    columns = _columns(file)
    action = f"find_{file.stem}"
    spec = ToolSpec(
        name=wire_name(source, action),
        action=action,
        source=source,
        description=f"Find rows of {file.stem}; without arguments, all of them.",
        category="knowledge",
        effect=Effect.READ,
        idempotent=True,
        input_schema={
            "type": "object",
            "properties": {name: {"type": "string"} for name in columns},
            "additionalProperties": False,
        },
    )

    async def run(arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> list[dict[str, str]]:
        return await asyncio.to_thread(_find, file, arguments, max_rows)

    return SchemaTool(spec=spec, run=run)


def _columns(file: Path) -> list[str]:
    with file.open(encoding="utf-8", newline="") as opened:
        header = next(csv.reader(opened), list[str]())
    if not header:
        raise SourceUnavailable(f"'{file.name}' has no header: write one, or take the file away.")
    return header


def _find(file: Path, wanted: Mapping[str, Any], max_rows: int) -> list[dict[str, str]]:
    try:
        with file.open(encoding="utf-8", newline="") as opened:
            rows = [row for row in csv.DictReader(opened) if wanted.items() <= row.items()]
    except OSError as error:
        raise ToolFailed(f"'{file.name}' cannot be read any more.") from error
    return rows[:max_rows]
