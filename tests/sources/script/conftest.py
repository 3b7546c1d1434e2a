from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from pegboard.core.ports.services import Services
from pegboard.registry import ToolRegistry
from pegboard.sources.script import KIND
from pegboard.sources.script.source import ScriptSource

Write = Callable[..., Path]
Open = Callable[..., Awaitable[ToolRegistry]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file below the board's folder."""

    def write(name: str, text: str, *, mode: int = 0o644) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
        path.chmod(mode)
        return path

    return write


@pytest.fixture
async def open_board(tmp_path: Path) -> AsyncIterator[Open]:
    """Opens a source on the files and gives a registry of its tools; plainly unless told."""
    opened: list[ScriptSource] = []

    async def open_board(*, services: dict[str, Any] | None = None, **config: Any) -> ToolRegistry:
        given = {"paths": ["."], "sandbox": "none", **config}
        source: Any = await KIND.open(
            "ops",
            KIND.config.model_validate(given),
            Services(base_dir=tmp_path, **(services or {})),
        )
        opened.append(source)
        return ToolRegistry(await source.tools())

    yield open_board
    for source in opened:
        await source.close()
