"""Checks the arguments that a program passes to `Pegboard`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from pegboard.access import Policy
from pegboard.errors import ConfigError
from pegboard.runtime.board_file.load import LoadedBoard, load_board
from pegboard.runtime.board_file.models import Board, SourceEntry
from pegboard.runtime.settings import Settings, environ, kind_of


def resolve_settings(settings: object, *, board: object, data: object) -> Settings:
    """Return the settings to open a board with; None reads them from the environment.

    Raises:
        ConfigError: An argument has the wrong type; the message says what to pass.
    """
    if settings is None:
        settings = Settings.from_environment()
    if not isinstance(settings, Settings):
        raise ConfigError(f"settings: expected a Settings(...) or None, not {kind_of(settings)}")
    return settings.replace(board=board, data=data)


def load_configured_board(settings: Settings) -> LoadedBoard:
    """Load the board file of the settings; without one, a board of the built-in tools.

    Raises:
        ConfigError: The file is missing or invalid; one line per mistake.
    """
    if settings.board is not None:
        return load_board(settings.board, environ())
    board = Board(sources=(SourceEntry(kind="builtin"),))
    return LoadedBoard(board=board, base_dir=Path.cwd())


def check_policy(policy: object) -> Policy | None:
    """The policy that a program gives.

    Raises:
        ConfigError: It is no `Policy`.
    """
    if policy is None or isinstance(policy, Policy):
        return policy
    raise ConfigError(
        f'policy: expected a Policy, as Policy(deny=("*delete*",)), not {kind_of(policy)}'
    )


def as_tuple(name: str, items: object) -> tuple[Any, ...]:
    """The items of an argument that takes an iterable.

    Raises:
        ConfigError: It is not an iterable of items.
    """
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise ConfigError(f"{name}: expected a list, not {kind_of(items)}")
    return tuple(cast("Iterable[Any]", items))
