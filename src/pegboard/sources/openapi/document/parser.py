"""Parses the bytes of a document into JSON data.

YAML is read by its core schema, a superset of JSON: no dates, no `yes` for true, no sexagesimal
numbers. The size with all aliases expanded is checked before anything is built from them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from pegboard.tools.yaml_positions import core_loader, find_too_deep

_MAX_NODES = 5_000_000
_MAX_DEPTH = 200
_MERGE = "tag:yaml.org,2002:merge"
_JSON_START = re.compile(rb"\s*[\[{]")


class Unreadable(ValueError):
    """The bytes are not a document; the message says where and why."""


def parse_document(raw: bytes) -> Any:
    """Parse a JSON or YAML text.

    Raises:
        Unreadable: It is neither, or its aliases expand to too much.
    """
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    if _JSON_START.match(raw):
        try:
            return msgspec.json.decode(raw)
        except RecursionError as error:
            raise Unreadable("it is nested too deep") from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            problem = f"it is not valid JSON: {error}"
            if raw.lstrip()[:1] == b"[":
                raise Unreadable(problem) from error
            return _yaml(raw, instead_of=problem)  # YAML has `{a: b}` too
    return _yaml(raw)


def _yaml(raw: bytes, *, instead_of: str = "") -> Any:
    import yaml

    try:
        text = raw.decode()
        if find_too_deep(text, _MAX_DEPTH) is not None:
            raise Unreadable(f"it is nested more than {_MAX_DEPTH} levels deep")
        loader: Any = core_loader()(text)
        try:
            root = loader.get_single_node()
            _check_size(root)
            return to_json_data(loader.construct_document(root) if root is not None else None)
        finally:
            loader.dispose()
    except UnicodeDecodeError as error:
        raise Unreadable("it is not UTF-8") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" in line {mark.line + 1}" if mark else ""
        raise Unreadable(instead_of or f"it is not valid YAML{where}: {error.problem}") from error
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, Unreadable):
            raise
        raise Unreadable(instead_of or "it is neither JSON nor YAML") from error
    except RecursionError as error:
        raise Unreadable("it is nested too deep") from error


def _check_size(root: Any) -> None:
    """Refuse a document that is huge or endless once its aliases are expanded."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()
    waiting: list[tuple[Any, int, bool]] = [(root, 0, False)]
    while waiting:
        node, depth, is_done = waiting.pop()
        key = id(node)
        children = _children(node)
        if is_done:
            open_nodes.discard(key)
            sizes[key] = 1 + sum(sizes[id(child)] for child in children)
            if sizes[key] > _MAX_NODES:
                raise Unreadable(f"its aliases expand to more than {_MAX_NODES:,} values")
            continue
        if key in sizes:
            continue
        if key in open_nodes:
            raise Unreadable("one of its aliases refers to a value that contains it")
        if depth > _MAX_DEPTH:
            raise Unreadable(f"it is nested more than {_MAX_DEPTH} levels deep")
        open_nodes.add(key)
        waiting.append((node, depth, True))
        waiting.extend((child, depth + 1, False) for child in children)


def _children(node: Any) -> list[Any]:
    value = getattr(node, "value", None)
    if not isinstance(value, list):
        return []
    items = cast("list[Any]", value)
    if items and isinstance(items[0], tuple):
        return [part for pair in cast("list[tuple[Any, Any]]", items) for part in pair]
    return items


def to_json_data(value: Any) -> Any:
    """Convert YAML values to JSON data, keeping shared parts shared. `200:` is a number in YAML."""
    done: dict[int, Any] = {}

    def made(item: Any) -> Any:
        if isinstance(item, Mapping):
            return once(cast("Mapping[Any, Any]", item))
        if isinstance(item, (list, tuple)):
            return once(cast("Sequence[Any]", item))
        return item if isinstance(item, (str, int, float, bool)) or item is None else str(item)

    def once(items: Mapping[Any, Any] | Sequence[Any]) -> Any:
        if id(items) not in done:
            if isinstance(items, Mapping):
                done[id(items)] = {_key(key): made(part) for key, part in items.items()}
            else:
                done[id(items)] = [made(part) for part in items]
        return done[id(items)]

    return made(value)


def _key(key: Any) -> str:
    if isinstance(key, bool):
        return str(key).lower()
    return "null" if key is None else str(key)
