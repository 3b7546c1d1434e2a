"""The shared definitions of one schema: only those it uses, no endless loops, bounded in size."""

from collections.abc import Iterator
from typing import Any, cast

import msgspec

Schema = dict[str, Any]
MOST_BYTES = 200_000
_PREFIX = "#/$defs/"
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE_SINGLE = ("if", "then", "else", "not")
_WORDS = frozenset({"description", "title", "examples", "default", "deprecated"})
_CUT = "Not checked here: the document's schema goes on further than a tool can show."


def finished(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    """The schema with the definitions that it needs.

    Args:
        schema: The root, which refers to them.
        definitions: By name; changed where they loop.
    """
    layers = _layers(schema, definitions)
    if not layers:
        return schema if _size(schema) <= MOST_BYTES else _wordless(schema)
    for name in (name for layer in layers for name in layer):
        _break_loops(name, definitions)
    used = {name: definitions[name] for layer in layers for name in sorted(layer)}
    made = {**schema, "$defs": used}
    if _size(made) <= MOST_BYTES:
        return made
    used = {name: _wordless(part) for name, part in used.items()}
    made = {**schema, "$defs": used}
    for layer in reversed(layers):
        if _size(made) <= MOST_BYTES:
            break
        used.update({name: {"$comment": _CUT} for name in layer})
    return _only_used(made) if _size(made) <= MOST_BYTES else _wordless(_only_used(made))


def _only_used(schema: Schema) -> Schema:
    used = {name for layer in _layers(schema, schema["$defs"]) for name in layer}
    kept = {name: part for name, part in schema["$defs"].items() if name in used}
    return {**schema, "$defs": kept}


def _layers(schema: Schema, definitions: dict[str, Schema]) -> list[list[str]]:
    """The names of what is used, nearest first."""
    rest = {key: value for key, value in schema.items() if key != "$defs"}
    layers: list[list[str]] = []
    seen: set[str] = set()
    parts: list[Any] = [rest]
    while parts:
        names = {name for part in parts for name in _names_in(part)} & definitions.keys() - seen
        seen |= names
        if names:
            layers.append(sorted(names))
        parts = [definitions[name] for name in sorted(names)]
    return layers


def _names_in(node: Any) -> Iterator[str]:
    waiting: list[Any] = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(cast("list[Any]", node))
        elif isinstance(node, dict):
            fields = cast("Schema", node)
            ref = fields.get("$ref")
            if isinstance(ref, str) and ref.startswith(_PREFIX):
                yield ref.removeprefix(_PREFIX)
            waiting.extend(fields.values())


def _break_loops(start: str, definitions: dict[str, Schema]) -> None:
    """Cut what applies itself to the same value again and again: `A: {allOf: [A]}`."""
    path: list[str] = [start]
    waiting: list[Iterator[tuple[Schema, str, bool]]] = [_in_place(definitions[start])]
    done: set[str] = set()
    while waiting:
        found = next(waiting[-1], None)
        if found is None:
            waiting.pop()
            done.add(path.pop())
            continue
        holder, name, negated = found
        if name in path:
            del holder["$ref"]
            holder["$comment"] = "The document's schema refers to itself here."
            if negated:
                holder["not"] = {}
        elif name not in done:
            path.append(name)
            waiting.append(_in_place(definitions[name]))


def _in_place(schema: Schema, *, negated: bool = False) -> Iterator[tuple[Schema, str, bool]]:
    """Every reference that speaks of the same value, and whether it is under a `not`."""
    ref = schema.get("$ref")
    if isinstance(ref, str) and ref.startswith(_PREFIX):
        yield schema, ref.removeprefix(_PREFIX), negated
    for key in _IN_PLACE_LISTS:
        for part in cast("list[Schema]", schema.get(key, [])):
            yield from _in_place(part, negated=negated)
    for key in _IN_PLACE_SINGLE:
        if isinstance(part := schema.get(key), dict):
            yield from _in_place(cast("Schema", part), negated=negated != (key == "not"))
    depending = cast("dict[str, Schema]", schema.get("dependentSchemas", {}))
    for part in depending.values():
        yield from _in_place(part, negated=negated)


def _wordless(schema: Schema) -> Schema:
    """Without what only readers need; property names that look like it are kept."""
    made: Schema = {}
    for key, value in schema.items():
        if key in _WORDS:
            continue
        if key in ("properties", "patternProperties", "dependentSchemas", "$defs"):
            made[key] = {name: _part(part) for name, part in cast("dict[str, Any]", value).items()}
        else:
            made[key] = value if key in ("enum", "const") else _part(value)
    return made


def _part(value: Any) -> Any:
    if isinstance(value, dict):
        return _wordless(cast("Schema", value))
    if isinstance(value, list):
        return [_part(item) for item in cast("list[Any]", value)]
    return value


def _size(schema: Schema) -> int:
    return len(msgspec.json.encode(schema))
