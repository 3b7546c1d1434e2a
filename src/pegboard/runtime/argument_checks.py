"""What a program gives to `Pegboard`, checked: a wrong type gets a sentence, not a stack."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from pegboard.errors import ConfigError
from pegboard.runtime.board_file.load import LoadedBoard, load_board
from pegboard.runtime.board_file.models import Board, SourceEntry
from pegboard.runtime.settings import Settings, environ, kind_of


def resolve_settings(settings: object, *, board: object, data: object) -> Settings:
    """The settings to open a board with; None reads them from the environment.

    Raises:
        ConfigError: One of the three is something else; says what to give.
    """
    if settings is None:
        settings = Settings.from_environment()
    if not isinstance(settings, Settings):
        raise ConfigError(
            f"settings: give a Settings(...) or leave it out, not {kind_of(settings)}"
        )
    return settings.replace(board=board, data=data)


def load_configured_board(settings: Settings) -> LoadedBoard:
    """The board file that settings name; the built-in tools alone where they name none.

    Raises:
        ConfigError: The file is missing or wrong; one line a mistake.
    """
    if settings.board is not None:
        return load_board(settings.board, environ())
    board = Board(sources=(SourceEntry(kind="builtin"),))
    return LoadedBoard(board=board, base_dir=Path.cwd())


def as_tuple(name: str, items: object) -> tuple[Any, ...]:
    """The items of an argument that takes several.

    Raises:
        ConfigError: It is no list.
    """
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise ConfigError(f"{name}: give a list of them, not {kind_of(items)}")
    return tuple(cast("Iterable[Any]", items))
