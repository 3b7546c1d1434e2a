"""Adds a source to a board file, opens it alone and shows its tools."""

import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from pegboard.cli.atomic_write import lock_folder
from pegboard.cli.exit_codes import Exit
from pegboard.cli.options import DEFAULT_BOARD, settings, with_board
from pegboard.cli.output.tables import count_noun, first_line, note, say, table
from pegboard.errors import ConfigError, InvalidRequest

if TYPE_CHECKING:
    from pegboard.core.tool import ToolSpec
    from pegboard.runtime import Pegboard
    from pegboard.runtime.board_file.load import LoadedBoard

_MAX_SHOWN = 20
Row = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSource:
    """A source as described on the command line.

    Attributes:
        config: As in the board file; a `Path` in it is relative to the current folder.
        words: What its name is generated from; empty where the source has names of its own.
    """

    kind: str
    config: Mapping[str, Any]
    words: str = ""


def add_source(
    source: NewSource, board: Path | None, *, name: str = "", dry_run: bool, check: bool
) -> None:
    """Add a source to the board file, and print the change and the source's tools.

    Args:
        source: The source to add.
        board: The board file; created if it is missing.
        name: Its name; empty generates one.
        dry_run: Show what would change, and change nothing.
        check: Open it, and show its tools.

    Raises:
        PegboardError: It cannot be added; nothing has changed.
    """
    from pegboard.cli.board_file_editor import write_board

    path = settings(board).board or DEFAULT_BOARD
    if dry_run:
        say(_edit_board_file(source, path, name).told)
        return
    with lock_folder(path):
        edit = _edit_board_file(source, path, name)
        if check:
            _refuse_missing(source.config, path.resolve().parent)
        write_board(path, edit.after, before=edit.before)
    say(edit.told)
    if check:
        show_source(path, edit.entry, edit.board)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    """The edit of a board file that adds a source.

    Attributes:
        told: What changes, as a diff.
        board: The board as loaded from `after`.
    """

    before: str
    after: str
    told: str
    entry: Mapping[str, Any]
    board: "LoadedBoard"


def _edit_board_file(source: NewSource, path: Path, name: str) -> _Edit:
    from pegboard.cli.board_file_editor import (
        check_board_text,
        choose_source_name,
        diff_texts,
        insert_source,
        relocate_faults,
    )
    from pegboard.runtime.board_file.load import load_board
    from pegboard.runtime.settings import environ

    before, loaded = "", None
    if path.exists():
        loaded = load_board(path, environ())
        before = path.read_bytes().decode()
    config = _from_folder(source.config, path.resolve().parent)
    if not name:
        refuse_duplicate(loaded, source.kind, config)
        name = choose_source_name(source.words, source.kind, loaded) if source.words else ""
    entry = {"kind": source.kind, **({"name": name} if name else {}), "config": config}
    after = insert_source(before, entry, file=path.name)
    try:
        now = check_board_text(after, path)
    except ConfigError as error:
        raise relocate_faults(error, before, after, path.name) from None
    told = diff_texts(before, after, path)
    return _Edit(before=before, after=after, told=told, entry=entry, board=now)


def _from_folder(value: Any, folder: Path) -> Any:
    """Make relative paths in a value start at the folder of the board file."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: _from_folder(item, folder) for key, item in items}
    if isinstance(value, list):
        return [_from_folder(item, folder) for item in cast("list[Any]", value)]
    if not isinstance(value, Path):
        return value
    is_elsewhere = not value.is_absolute() and value.exists() and not (folder / value).exists()
    return os.path.relpath(value, folder) if is_elsewhere else str(value)


def _refuse_missing(value: Any, folder: Path) -> None:
    """Refuse a file that is not there, before the board file names it.

    Raises:
        InvalidRequest: Neither this folder nor that of the board file has it.
    """
    if isinstance(value, Mapping):
        for item in cast("Mapping[str, Any]", value).values():
            _refuse_missing(item, folder)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            _refuse_missing(item, folder)
    elif isinstance(value, Path) and not _is_there(value, folder):
        raise InvalidRequest(
            f"There is no file '{value}': nothing was added. If it comes later, add it with "
            "--no-check."
        )


def _is_there(path: Path, folder: Path) -> bool:
    """Whether this folder or that of the board file has a file; of a glob it is not known."""
    is_pattern = bool(set(str(path)) & set("*?["))
    return is_pattern or path.exists() or (folder / path).exists()


def refuse_duplicate(loaded: "LoadedBoard | None", kind: str, config: Mapping[str, Any]) -> None:
    """Refuse a source that the board already has.

    Raises:
        InvalidRequest: It has; the message names the line.
    """
    if loaded is None or loaded.located is None:
        return
    for index in range(len(loaded.board.sources)):
        written: Any = loaded.located.value["sources"][index]
        if (written["kind"], written.get("config")) == (kind, config):
            where = loaded.where(("sources", index))
            raise InvalidRequest(
                f"{where} already defines this source; use --name to add it a second time"
            )


def show_source(path: Path, entry: Mapping[str, Any], loaded: "LoadedBoard") -> None:
    """Open the new source alone and print its tools."""
    from pegboard.tools.yaml_positions import dump_yaml

    network = loaded.board.network.model_dump(mode="json")
    text = dump_yaml({"sources": [entry], "network": network})
    with tempfile.NamedTemporaryFile(
        "w", suffix=".yaml", prefix=".pegboard-add-", dir=path.resolve().parent, encoding="utf-8"
    ) as file:  # beside the board, where its relative paths begin
        file.write(text)
        file.flush()
        rows, faults = with_board(settings(Path(file.name)), _list_tools)
    if rows:
        sys.stdout.write("\n")
        table(("name", "effect", "description"), rows[:_MAX_SHOWN])
    note(count_noun(len(rows), "tool"))
    if len(rows) > _MAX_SHOWN:
        note(
            f"The first {_MAX_SHOWN} are shown; 'pegboard tools' lists all. Agents are shown the "
            "tools that fit; MCP clients get every tool unless you select some "
            "('pegboard mcp --list' or '--only')."
        )
    for name, reason in faults:
        note(f"pegboard: '{name}' was added, but cannot be used yet: {reason}")
    if faults:
        raise typer.Exit(Exit.UNAVAILABLE)


async def _list_tools(board: "Pegboard") -> tuple[list[Row], list[tuple[str, str]]]:
    """List the tools of all sources, and the sources that cannot be used with the reason."""
    rows: list[Row] = []
    faults: list[tuple[str, str]] = []
    for state in board.sources:
        specs = [tool.spec for tool in state.tools]
        rows += [(item.name, item.effect.value, _describe(item)) for item in specs]
        if state.status != "ok":
            faults.append((state.name, state.reason))
        elif specs and all(item.unavailable for item in specs):
            faults.append((state.name, specs[0].unavailable))
    return rows, faults


def _describe(spec: "ToolSpec") -> str:
    if spec.unavailable:
        return f"(unavailable: {spec.unavailable})"
    return first_line(spec.description)
