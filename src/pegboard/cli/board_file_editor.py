"""Inserts a source into the text of a board file; every other character stays."""

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from pegboard.cli.atomic_write import write_file
from pegboard.core.wire_names import is_source_name
from pegboard.errors import ConfigError
from pegboard.runtime.board_file.load import LoadedBoard, parse_board
from pegboard.runtime.board_file.sources import check_sources
from pegboard.runtime.settings import environ
from pegboard.tools.yaml_positions import dump_yaml, read_yaml

Entry = Mapping[str, Any]
_WIDE = 10_000


def insert_source(text: str, entry: Entry, *, file: str = "board.yaml") -> str:
    """Insert a source into the text of a board file; comments and format stay as they are.

    Raises:
        ConfigError: The file is not a board, or its form does not allow the insertion.
    """
    ending = "\r\n" if "\r\n" in text else "\n"
    before = read_yaml(text, file).value
    if before is not None and not isinstance(before, dict):
        raise ConfigError(f"{file}:1: a board is a mapping, as in 'sources: [...]'")
    after = _insert(text, entry).replace("\r\n", "\n").replace("\n", ending)
    _check_nothing_else_changed(before, read_yaml(after, file).value, entry, file)
    return after


def check_board_text(text: str, path: Path) -> LoadedBoard:
    """Load a board from text and check its sources.

    Raises:
        ConfigError: One line a mistake.
    """
    loaded = parse_board(text, environ(), path=path)
    check_sources(loaded)
    return loaded


def relocate_faults(error: ConfigError, before: str, after: str, file: str) -> ConfigError:
    """Translate an error of the edited text back to the unchanged file.

    Lines below the new source are shifted back, and faults of the source itself have no line.
    """
    located = read_yaml(after, file)
    index = len(located.value["sources"]) - 1
    start = located.line(("sources", index))
    more = len(after.splitlines()) - len(before.splitlines())

    def placed(match: re.Match[str]) -> str:
        line = int(match[1])
        if start <= line < start + more:
            return "the new source: "
        return f"{file}:{line if line < start else line - more}: {match[2] or ''}"

    place = rf"(sources\[{index}\](?:\.|: ))?"
    return ConfigError(re.sub(rf"(?m)^{re.escape(file)}:(\d+): {place}", placed, error.message))


def diff_texts(before: str, after: str, path: Path) -> str:
    """The unified diff of a change."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), str(path), str(path), lineterm="", n=2
    )
    return "\n".join(lines)


def write_board(path: Path, text: str, *, before: str) -> None:
    """Write a board file atomically.

    Raises:
        ConfigError: It cannot be written, or no longer has the content `before`.
    """
    write_file(path, text, before=before)


def choose_source_name(wanted: str, kind: str, loaded: LoadedBoard | None) -> str:
    """Choose a valid and unused source name from some words."""
    legal = "".join(char if char.isascii() and char.isalnum() else "-" for char in wanted.lower())
    short = "-".join(part for part in legal.split("-") if part)[:20].strip("-") or kind
    name = short if is_source_name(short) else kind
    entries = loaded.board.sources if loaded is not None else ()
    taken = {entry.name or entry.kind for entry in entries}
    candidates = (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3)))
    return next(item for item in candidates if item not in taken)


def _insert(text: str, entry: Entry) -> str:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    found = _value(root, "sources")
    if found is None:
        gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}sources:\n{_block(entry, 2)}"
    if isinstance(found, yaml.SequenceNode):
        items = cast("list[yaml.Node]", found.value)
        if found.flow_style:
            return _into_flow(text, found, items, entry)
        last = _last_line(items[-1])
        return _after_line(text, last, _block(entry, _dash_column(text, items[-1])))
    return _after_line(text, found.start_mark.line, _block(entry, 2))


def _value(root: yaml.Node | None, key: str) -> yaml.Node | None:
    pairs: list[tuple[yaml.Node, yaml.Node]] = (
        root.value if isinstance(root, yaml.MappingNode) else []
    )
    return next((value for name, value in pairs if name.value == key), None)


def _block(entry: Entry, indent: int) -> str:
    dumped = dump_yaml([dict(entry)], sort_keys=False, allow_unicode=True, width=_WIDE)
    return "".join(f"{' ' * indent}{line}\n" for line in dumped.splitlines())


def _into_flow(text: str, node: yaml.SequenceNode, items: list[yaml.Node], entry: Entry) -> str:
    """`[a]` becomes `[a, entry]`; a comma that stands at the end already is used."""
    dumped = dump_yaml(
        dict(entry), sort_keys=False, default_flow_style=True, allow_unicode=True, width=_WIDE
    ).strip()
    end = node.end_mark.index - 1
    if not items:
        return f"{text[:end].rstrip()}{dumped}{text[end:]}"
    after = items[-1].end_mark.index
    comma = "" if "," in _strip_comments(text[after:end]) else ","
    if "\n" not in text[node.start_mark.index : end]:
        return f"{text[:after]}{comma} {dumped}{text[after:]}"
    column = items[-1].start_mark.column
    rest = text[after:end]
    return f"{text[:after]}{comma}{rest.rstrip()}\n{' ' * column}{dumped}\n{text[end:]}"


def _strip_comments(text: str) -> str:
    return "\n".join(line.partition("#")[0] for line in text.splitlines())


def _after_line(text: str, line: int, block: str) -> str:
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return "".join((*lines[: line + 1], block, *lines[line + 1 :]))


def _dash_column(text: str, item: yaml.Node) -> int:
    """The column of an item's dash; its value may begin on a later line."""
    lines = text.splitlines()
    for number in range(item.start_mark.line, -1, -1):
        stripped = lines[number].lstrip()
        if stripped.startswith("-"):
            return len(lines[number]) - len(stripped)
    return 2


def _last_line(node: yaml.Node) -> int:
    """The last line of a node."""
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        return max(node.start_mark.line, node.end_mark.line - 1)
    if isinstance(node, yaml.ScalarNode) or getattr(node, "flow_style", False):
        return node.end_mark.line
    children: list[Any] = node.value
    if not children:
        return node.end_mark.line
    if isinstance(node, yaml.MappingNode):
        return _last_line(children[-1][1])
    return _last_line(children[-1])


def _check_nothing_else_changed(before: Any, after: Any, entry: Entry, file: str) -> None:
    old: dict[str, Any] = before or {}
    sources: list[Any] = old.get("sources") or []
    wanted: dict[str, Any] = {**old, "sources": [*sources, dict(entry)]}
    if after != wanted:
        raise ConfigError(
            f"{file}: the source could not be inserted without changing other content; add it "
            f"by hand:\n{_block(entry, 2)}"
        )
