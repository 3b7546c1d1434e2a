"""Reports what a reload changed, or why it was refused."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pegboard.core.event import BoardChanged, Notice
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.board_file.models import Board
from pegboard.runtime.unused_rules import UnusedRule

_MAX_NAMES = 3


def reload_notice(
    change: BoardChanged,
    cause: str,
    before: LoadedBoard,
    after: LoadedBoard,
    *,
    tools: tuple[Collection[str], Collection[str]],
    broken: Mapping[str, str],
    rules: Sequence[UnusedRule],
    at: float,
) -> Notice:
    """The notice of a reload.

    Args:
        change: The sources that it added, removed and changed.
        cause: The files that have changed; empty for the board file.
        before: The board file before.
        after: The board file now.
        tools: The names of the tools before and now.
        broken: What is wrong now with a source, and was not before, by its name.
        rules: The rules that match no tool now.
        at: Unix seconds.
    """
    had, has = map(set, tools)
    detail: dict[str, Any] = {name: change.detail[name] for name in ("added", "removed", "changed")}
    detail["sections"] = [
        name
        for name in Board.model_fields
        if name != "sources" and getattr(before.board, name) != getattr(after.board, name)
    ]
    detail["new_tools"], detail["gone_tools"] = sorted(has - had), sorted(had - has)
    parts = (
        *(_list(f"{verb} source", detail[verb]) for verb in ("added", "removed", "changed")),
        _list("changed section", detail["sections"]),
        _list("new tool", detail["new_tools"]),
        _list("removed tool", detail["gone_tools"]),
        *(f"source {name} {problem}" for name, problem in broken.items()),
    )
    nothing = "the same tools as before" if cause else "nothing changed"
    said = "; ".join(filter(None, parts)) or nothing
    detail["broken"] = dict(broken)
    detail["rules"] = [rule.to_dict() for rule in rules if rule.protects]
    return Notice(
        about="board",
        level="warning" if detail["rules"] or broken else "info",
        message=f"{cause or _file(after)} reloaded: {said}",
        at=at,
        detail=detail,
    )


def refusal_notice(problem: str, *, at: float) -> Notice:
    """The notice of a refused reload; the problem names the file and the line."""
    return Notice(
        about="board",
        level="error",
        message=f"reload refused, the board is unchanged: {problem}",
        at=at,
    )


def _file(loaded: LoadedBoard) -> str:
    return "board" if loaded.path is None else loaded.path.name


def _list(what: str, names: Sequence[str]) -> str:
    """`new tool a`, `new tools a, b`, or `9 new tools`; empty for none."""
    if len(names) > _MAX_NAMES:
        return f"{len(names)} {what}s"
    return f"{what}{'s' if len(names) > 1 else ''} {', '.join(names)}" if names else ""
