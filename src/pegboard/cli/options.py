"""Options shared by commands, and opening the board that they name."""

import logging
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from pegboard.errors import ToolNotFound

if TYPE_CHECKING:
    from pegboard.core.tool import Tool
    from pegboard.runtime import Pegboard, Settings

T = TypeVar("T")

BoardOption = Annotated[
    Path | None,
    typer.Option("--board", "-b", help="The board file [default: $PEGBOARD_BOARD or board.yaml]."),
]
DataOption = Annotated[
    Path | None,
    typer.Option("--data", help="The data directory [default: $PEGBOARD_DATA, else none]."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

SvgOption = Annotated[Path | None, typer.Option("--svg", help="Write it as an SVG to this file.")]
TimelineOption = Annotated[
    Path | None, typer.Option("--timeline", help="Write its time line as an SVG to this file.")
]

DEFAULT_BOARD = Path("board.yaml")

_LOG = logging.getLogger("pegboard.sources")
_FOREIGN = ("mcp", "client")
"""Loggers of the MCP library; the source reports the same as its reason."""


def settings(board: Path | None = None, data: Path | None = None) -> "Settings":
    """Read the settings from the environment and the command line.

    Raises:
        ConfigError: A setting is wrong.
    """
    from pegboard.runtime import Settings

    found = Settings.from_environment().replace(board=board, data=data)
    if found.board is None and DEFAULT_BOARD.is_file():
        found = found.replace(board=DEFAULT_BOARD)
    return found


def explicit_options(board: Path | None, data: Path | None) -> str:
    """The given options as text, for a suggested command; empty, or with a leading space."""
    given = (("--board", board), ("--data", data))
    return "".join(f" {name} {quote(str(path))}" for name, path in given if path is not None)


def with_board(
    chosen: "Settings", use: "Callable[[Pegboard], Awaitable[T]]", *, whole: bool = True
) -> T:
    """Open the board, use it, close it.

    Args:
        chosen: Which board.
        use: What to do with it.
        whole: Whether to wait until each source has answered or timed out; otherwise sources are
            opened on demand.
    """
    import asyncio

    from pegboard.runtime import Pegboard

    async def run() -> T:
        on_demand = None if whole else True
        asked = chosen.replace(open_on_demand=on_demand)
        async with Pegboard(settings=asked, brief=True) as board:
            if whole:
                await board.wait_for_sources()
            return await use(board)

    with hide_source_tracebacks(chosen):
        return asyncio.run(run())


async def find_tool(board: "Pegboard", name: str) -> "Tool":
    """Find a tool by name or id, waiting only for its own source.

    Raises:
        ToolNotFound: There is none; the message names similar tools.
        SourceUnavailable: Its source is unavailable; says why.
    """
    try:
        return await board.wait_for(name)
    except ToolNotFound:
        await board.wait_for_sources()
        return board.find(name)


@contextmanager
def hide_source_tracebacks(chosen: "Settings") -> Generator[None]:
    """Hide stack traces of foreign code: commands print the reason with the source.

    To see them, set PEGBOARD_LOG, as in `PEGBOARD_LOG=stderr pegboard sources`.
    """
    if chosen.log in {"stderr", "stdout"}:
        yield
        return
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.addFilter(lambda record: not record.exc_info)
    silent = logging.NullHandler()
    _LOG.addHandler(handler)
    for name in _FOREIGN:
        logging.getLogger(name).addHandler(silent)
    try:
        yield
    finally:
        _LOG.removeHandler(handler)
        for name in _FOREIGN:
            logging.getLogger(name).removeHandler(silent)
