"""A source more on a board: into its file, opened alone, and shown."""

import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from pegboard.cli.atomic_write import alone
from pegboard.cli.exit_codes import Exit
from pegboard.cli.options import DEFAULT_BOARD, settings, with_board
from pegboard.cli.output.tables import counted, first_line, note, say, table
from pegboard.errors import ConfigError, InvalidRequest

if TYPE_CHECKING:
    from pegboard.core.tool import ToolSpec
    from pegboard.runtime import Pegboard
    from pegboard.runtime.board_file.load import LoadedBoard

Row = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSource:
    """What a command line says of a source.

    Attributes:
        config: As the board file has it; a `Path` in it is one of this folder.
        words: What its name is made of; empty where it brings names of its own.
    """

    kind: str
    config: Mapping[str, Any]
    words: str = ""


def add_source(
    source: NewSource, board: Path | None, *, name: str = "", dry_run: bool, check: bool
) -> None:
    """Put it into the board file, and show what changes and what it has.

    Args:
        source: What to put there.
        board: The file; begun when there is none.
        name: Its name; empty makes one up.
        dry_run: Show what would change, and change nothing.
        check: Open it, and show its tools.

    Raises:
        PegboardError: It cannot be put there; nothing has changed.
    """
    from pegboard.cli.board_file_editor import write_board

    path = settings(board).board or DEFAULT_BOARD
    if dry_run:
        say(_put_in(source, path, name).told)
        return
    with alone(path):
        edit = _put_in(source, path, name)
        write_board(path, edit.after, before=edit.before)
    say(edit.told)
    if check:
        show_source(path, edit.entry, edit.board)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    """A board file with a source more.

    Attributes:
        told: What changes, as a diff.
        board: What the text of after says.
    """

    before: str
    after: str
    told: str
    entry: Mapping[str, Any]
    board: "LoadedBoard"


def _put_in(source: NewSource, path: Path, name: str) -> _Edit:
    from pegboard.cli.board_file_editor import (
        changes,
        free_name,
        loaded_with,
        with_source,
        without_new_lines,
    )
    from pegboard.runtime.board_file.load import load_board
    from pegboard.runtime.settings import environ

    before, loaded = "", None
    if path.exists():
        loaded = load_board(path, environ())
        before = path.read_bytes().decode()
    config = _from_folder(source.config, path.resolve().parent)
    if not name:
        refuse_twin(loaded, source.kind, config)
        name = free_name(source.words, source.kind, loaded) if source.words else ""
    entry = {"kind": source.kind, **({"name": name} if name else {}), "config": config}
    after = with_source(before, entry, file=path.name)
    try:
        now = loaded_with(after, path)
    except ConfigError as error:
        raise without_new_lines(error, before, after, path.name) from None
    told = changes(before, after, path)
    return _Edit(before=before, after=after, told=told, entry=entry, board=now)


def _from_folder(value: Any, folder: Path) -> Any:
    """The value as the board file has it: its relative paths begin where the board is."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: _from_folder(item, folder) for key, item in items}
    if isinstance(value, list):
        return [_from_folder(item, folder) for item in cast("list[Any]", value)]
    if not isinstance(value, Path):
        return value
    is_elsewhere = not value.is_absolute() and value.exists() and not (folder / value).exists()
    return os.path.relpath(value, folder) if is_elsewhere else str(value)


def refuse_twin(loaded: "LoadedBoard | None", kind: str, config: Mapping[str, Any]) -> None:
    """Refuse a source that the board has already.

    Raises:
        InvalidRequest: It has; names the line.
    """
    if loaded is None or loaded.located is None:
        return
    for index in range(len(loaded.board.sources)):
        written: Any = loaded.located.value["sources"][index]
        if (written["kind"], written.get("config")) == (kind, config):
            where = loaded.where(("sources", index))
            raise InvalidRequest(
                f"{where} is this source already; give --name to have it there twice"
            )


def show_source(path: Path, entry: Mapping[str, Any], loaded: "LoadedBoard") -> None:
    """Open the new source alone, and show what it offers."""
    import yaml

    network = loaded.board.network.model_dump(mode="json")
    text = yaml.safe_dump({"sources": [entry], "network": network})
    with tempfile.NamedTemporaryFile(
        "w", suffix=".yaml", prefix=".pegboard-add-", dir=path.resolve().parent, encoding="utf-8"
    ) as file:  # beside the board, where its relative paths begin
        file.write(text)
        file.flush()
        rows, faults = with_board(settings(Path(file.name)), _offered)
    if rows:
        sys.stdout.write("\n")
        table(("name", "effect", "description"), rows)
    note(counted(len(rows), "tool"))
    for name, reason in faults:
        note(f"pegboard: '{name}' is on the board, and cannot be used yet: {reason}")
    if faults:
        raise typer.Exit(Exit.UNAVAILABLE)


async def _offered(board: "Pegboard") -> tuple[list[Row], list[tuple[str, str]]]:
    """The tools of all sources, and which sources cannot be used, with the reason."""
    rows: list[Row] = []
    faults: list[tuple[str, str]] = []
    for state in board.sources:
        specs = [tool.spec for tool in state.tools]
        rows += [(item.name, item.effect.value, _told(item)) for item in specs]
        if state.status != "ok":
            faults.append((state.name, state.reason))
        elif specs and all(item.unavailable for item in specs):
            faults.append((state.name, specs[0].unavailable))
    return rows, faults


def _told(spec: "ToolSpec") -> str:
    if spec.unavailable:
        return f"(unavailable: {spec.unavailable})"
    return first_line(spec.description)
