"""Options that all commands share, and opening the board that they name."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

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

DEFAULT_BOARD = Path("board.yaml")


def settings(board: Path | None = None, data: Path | None = None) -> Settings:
    """The settings of the environment with what the command line says.

    Raises:
        ConfigError: A setting is wrong.
    """
    found = Settings.from_environment().changed(board=board, data=data)
    if found.board is None and DEFAULT_BOARD.is_file():
        found = found.changed(board=DEFAULT_BOARD)
    return found


def with_board(chosen: Settings, use: Callable[[Pegboard], Awaitable[T]]) -> T:
    """Open the board, use it, close it."""

    async def run() -> T:
        async with Pegboard(settings=chosen) as board:
            return await use(board)

    return asyncio.run(run())
