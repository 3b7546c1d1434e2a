"""Paths into the data of a run: `$.params.url`, `$.steps.fetch.output.items[0].id`, `$.item`.

A text that begins with `$.` is a path. A text that shall begin so, and is none, is written with one
more dollar: `$$.50` stands for `$.50`, `$$$.` for `$$.`, and so on. Within a text a path stands in
braces, as `{{ params.url }}` (`texts.py`).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from msgspec import Struct

from pegboard.core.graph import Graph
from pegboard.errors import InvalidRequest
from pegboard.graphs.expressions.templates import (
    OPENING,
    escape_braces,
    fill_template,
    holes,
    path_within,
)

ROOTS = ("params", "steps", "env", "item", "index", "output")
ASPECTS = ("output", "state", "error")
"""What is known of a step."""

_PART = re.compile(r"\.([\w-]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]")
_ESCAPED = re.compile(r"\$\$+\.")
_MAX_SHOWN = 60

Key = str | int


class Absent:
    """Marks what a step that never gave anything would have given."""


ABSENT = Absent()


class Reference(Struct, frozen=True):
    """A path, read.

    Attributes:
        root: One of `ROOTS`.
        keys: Names and 0-based indexes below it; for `steps` the first is an id or a position.
    """

    root: str
    keys: tuple[Key, ...] = ()

    @property
    def text(self) -> str:
        """As it is written."""
        return f"$.{self.root}" + "".join(_format_key(key) for key in self.keys)


def is_path(value: object) -> bool:
    """Whether a value is meant as a path."""
    return isinstance(value, str) and value.startswith("$.")


def is_template(value: object) -> bool:
    """Whether a value is a text that paths are put into."""
    return isinstance(value, str) and not is_path(value) and any(True for _ in holes(value))


@lru_cache(maxsize=4096)
def parse_reference(path: str) -> Reference:
    """Read a path, also one with its braces: `{{ params.url }}`.

    Raises:
        InvalidRequest: It is none; says how to write the text instead.
    """
    if path.startswith(OPENING):
        return _parse_braces(path)
    keys, place = list[Key](), 1
    while place < len(path):
        match = _PART.match(path, place)
        if match is None:
            raise InvalidRequest(
                f"'{_short(path)}' is no path, at '{_short(path[place:])}'. A path is like "
                "$.params.url or $.steps.fetch.output.items[0]; "
                f"for the text, write '${_short(path)}'."
            )
        name, index, single, double = match.groups()
        quoted = single if single is not None else double
        keys.append(int(index) if index else name or re.sub(r"\\(.)", r"\1", quoted or ""))
        place = match.end()
    root = str(keys[0])
    if root not in ROOTS:
        raise InvalidRequest(
            f"'{_short(path)}' begins with none of {', '.join(ROOTS)}; for the text, "
            f"write '${_short(path)}'."
        )
    return Reference(root, tuple(keys[1:]))


def _parse_braces(hole: str) -> Reference:
    try:
        return parse_reference(path_within(hole))
    except InvalidRequest as error:
        raise InvalidRequest(
            f"'{_short(hole)}' cannot be filled: within the braces stands a path alone, as "
            "{{ params.url }} or {{ steps.fetch.output.title }}, beginning with one of "
            f"{', '.join(ROOTS)}; for the braces themselves, write {escape_braces(OPENING)}."
        ) from error


def step_of(reference: Reference, graph: Graph) -> str | None:
    """The id of the step that a path begins at; None when it is about no step, or there is none.

    `$.steps[0]` is the first node of the graph; `$.steps.fetch` and `$.steps['0']` go by id.
    """
    if reference.root != "steps" or not reference.keys:
        return None
    first = reference.keys[0]
    if isinstance(first, str):
        return first
    return graph.nodes[first].id if first < len(graph.nodes) else None


def references(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Every path within a value, with its place: `(items[0].url, $.params.url)`.

    Of a text, those with their braces.
    """
    if isinstance(value, str):
        for path in (value,) if is_path(value) else holes(value):
            yield place, path
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[Any, Any]", value).items():
            yield from references(item, f"{place}.{key}" if place else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(cast("Sequence[Any]", value)):
            yield from references(item, f"{place}[{index}]")


def literal(value: Any) -> Any:
    """What a value without paths stands for: escapes undone."""
    return _map_texts(value, lambda path: path)


def escape(value: Any) -> Any:
    """A value written so that it stands for itself, whatever its texts say."""
    if isinstance(value, str):
        return escape_braces(f"${value}" if re.match(r"\$+\.", value) else value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: escape(item) for key, item in items}
    if isinstance(value, (list, tuple)):
        return [escape(item) for item in cast("Sequence[Any]", value)]
    return value


def resolve(value: Any, data: Mapping[str, Any], *, ids: Sequence[str] = ()) -> Any:
    """The value with each path replaced by what is there; null for what was never given.

    So it is within a text, where what is no text stands as JSON.

    Args:
        value: Literals, paths, and lists and mappings of these.
        data: What is known, by root.
        ids: Of the steps, by position.

    Raises:
        InvalidRequest: A path leads to nothing.
    """

    def look(path: str) -> Any:
        found = _at(parse_reference(path), data, ids)
        return None if found is ABSENT else found

    return _map_texts(value, look)


def resolve_input(
    given: Mapping[str, Any], data: Mapping[str, Any], *, ids: Sequence[str] = ()
) -> dict[str, Any]:
    """`resolved`, for arguments: one whose step never gave anything is left out.

    Raises:
        InvalidRequest: A path leads to nothing; names the argument.
    """
    arguments: dict[str, Any] = {}
    for name, value in given.items():
        try:
            if is_path(value):
                found = _at(parse_reference(value), data, ids)
                if found is not ABSENT:
                    arguments[name] = found
            else:
                arguments[name] = resolve(value, data, ids=ids)
        except InvalidRequest as error:
            raise InvalidRequest(f"input '{name}': {error}") from error
    return arguments


def _map_texts(value: Any, look: Callable[[str], Any]) -> Any:
    if isinstance(value, str):
        if value.startswith("$."):
            return look(value)
        text = value[1:] if _ESCAPED.match(value) else value
        return fill_template(text, look) if OPENING in text else text
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {key: _map_texts(item, look) for key, item in items}
    if isinstance(value, (list, tuple)):
        return [_map_texts(item, look) for item in cast("Sequence[Any]", value)]
    return value


def _at(reference: Reference, data: Mapping[str, Any], ids: Sequence[str]) -> Any:
    keys = reference.keys
    if reference.root not in data:
        raise InvalidRequest(f"{reference.text} is not known here.")
    value: Any = data[reference.root]
    if reference.root == "params" and not keys:
        given = cast("Mapping[str, Any]", value).items()
        return {name: item for name, item in given if item is not ABSENT}
    if reference.root == "steps" and keys:
        first = keys[0]
        if isinstance(first, int):
            first = ids[first] if first < len(ids) else ""
        known = cast("Mapping[str, Any]", value)
        if first not in known:
            raise InvalidRequest(f"{reference.text}: that step has not ended.")
        value, keys = known[first], keys[1:]
        if keys[:1] == ("output",) and value.get("state") != "completed":
            return ABSENT
    for key in keys:
        value = _below(value, key, reference)
        if value is ABSENT:
            return ABSENT
    return value


def _below(value: Any, key: Key, reference: Reference) -> Any:
    if isinstance(key, int):
        if isinstance(value, (list, tuple)):
            items = cast("Sequence[Any]", value)
            if key < len(items):
                return items[key]
            raise InvalidRequest(f"{reference.text}: the list has {len(items)} items.")
    elif isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value)
        if key in entries:
            return entries[key]
        names = ", ".join(list(entries)[:8]) or "nothing"
        raise InvalidRequest(
            f"{reference.text}: there is no '{_short(key)}', only {_short(names)}."
        )
    raise InvalidRequest(f"{reference.text}: '{_short(str(key))}' is looked for in {_kind(value)}.")


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = (
        (bool, "a boolean"),
        ((int, float), "a number"),
        (str, "a text"),
        (Mapping, "an object"),
    )
    return next((word for kind, word in kinds if isinstance(value, kind)), "a list")


def _format_key(key: Key) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    if re.fullmatch(r"[\w-]+", key):
        return f".{key}"
    return "['" + key.replace("\\", "\\\\").replace("'", "\\'") + "']"


def _short(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
