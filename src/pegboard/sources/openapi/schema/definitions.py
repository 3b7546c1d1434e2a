"""Attaches shared definitions to a schema: only those it uses, without loops, bounded in size."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import deepcopy
from graphlib import CycleError, TopologicalSorter
from typing import Any, cast

import msgspec

from pegboard.schemas.validation_cost import read_branch_limit

Schema = dict[str, Any]
MAX_SCHEMA_BYTES = 200_000
_PREFIX = "#/$defs/"
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE_SINGLE = ("if", "then", "else", "not")
_WORDS = frozenset({"description", "title", "examples", "default", "deprecated"})
_CUT = "Not checked here: the document's schema goes on further than a tool can show."


class Definitions:
    """Definitions that schemas share, by name, with cached facts about each.

    They are never modified: thousands of tools share them.
    """

    def __init__(self, schemas: Mapping[str, Schema] | None = None) -> None:
        self.schemas: dict[str, Schema] = dict(schemas or {})
        self._uses: dict[str, frozenset[str]] = {}
        self._in_place: dict[str, tuple[str, ...]] = {}
        self._wordless: dict[str, Schema] = {}

    def uses(self, name: str) -> frozenset[str]:
        """Return the definitions that a definition refers to."""
        found = self._uses.get(name)
        if found is None:
            found = self._uses[name] = self.names_in(self.schemas[name])
        return found

    def names_in(self, schema: Schema) -> frozenset[str]:
        """Return the definitions that a schema refers to directly."""
        return frozenset(_names_in(schema)) & self.schemas.keys()

    def without_annotations(self, name: str) -> Schema:
        """Return a definition without descriptions, examples and other annotations."""
        found = self._wordless.get(name)
        if found is None:
            found = self._wordless[name] = _without_annotations(self.schemas[name])
        return found

    def in_place(self, name: str) -> tuple[str, ...]:
        """Return the definitions that one applies to the same value, with repetitions."""
        found = self._in_place.get(name)
        if found is None:
            found = tuple(one[1] for one in _in_place(self.schemas[name]))
            self._in_place[name] = found
        return found

    def layers(self, schema: Schema, *, cut: AbstractSet[str] = frozenset()) -> list[list[str]]:
        """Return the names that a schema needs, nearest first; a cut definition needs nothing."""
        layers: list[list[str]] = []
        seen: set[str] = set()
        new = self.names_in({key: value for key, value in schema.items() if key != "$defs"})
        while new:
            seen |= new
            layers.append(sorted(new))
            new = frozenset[str]().union(*map(self.uses, new - cut)) - seen
        return layers


def attach_definitions(schema: Schema, definitions: Definitions) -> Schema:
    """Return the schema with the definitions that it needs.

    Args:
        schema: The root schema, which refers to them.
        definitions: All definitions.
    """
    layers = definitions.layers(schema)
    if not layers:
        return schema if _size(schema) <= MAX_SCHEMA_BYTES else _without_annotations(schema)
    definitions = _without_loops(definitions, [name for layer in layers for name in layer])
    used = {name: definitions.schemas[name] for layer in layers for name in sorted(layer)}
    made = {**schema, "$defs": used}
    if _size(made) <= MAX_SCHEMA_BYTES:
        return made
    used = {name: definitions.without_annotations(name) for name in used}
    made = {**schema, "$defs": used}
    cut: set[str] = set()
    for layer in reversed(layers):
        if _size(made) <= MAX_SCHEMA_BYTES:
            break
        cut.update(layer)
        used.update({name: {"$comment": _CUT} for name in layer})
    needed = {name for layer in definitions.layers(schema, cut=cut) for name in layer}
    made["$defs"] = {name: part for name, part in used.items() if name in needed}
    return made if _size(made) <= MAX_SCHEMA_BYTES else _without_annotations(made)


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


def _without_loops(definitions: Definitions, names: Sequence[str]) -> Definitions:
    """Return the definitions, or copies that are cut where they loop or multiply."""
    applied = {name: definitions.in_place(name) for name in names}
    try:
        order = list(TopologicalSorter(applied).static_order())
    except CycleError:
        pass
    else:
        counts: dict[str, int] = {}
        for name in order:
            counts[name] = 1 + sum(counts[other] for other in applied.get(name, ()))
        if max(counts.values()) <= _read_limit():
            return definitions
    copies = deepcopy({name: definitions.schemas[name] for name in names})
    done: set[str] = set()
    for name in names:
        if name not in done:
            _break_loops(name, copies, done)
    _cut_multiples(copies)
    return Definitions(copies)


def _read_limit() -> int:
    """The maximum of definitions that apply to one value; each double reference doubles them.

    It leaves room for the other parts of a schema, so that its validator accepts it.
    """
    return read_branch_limit() // 3


def _cut_multiples(definitions: dict[str, Schema]) -> None:
    """Cut schemas that multiply on one value: `A: {allOf: [B, B]}`, and B likewise."""
    applied = {name: [one[1] for one in _in_place(part)] for name, part in definitions.items()}
    counts: dict[str, int] = {}
    most = _read_limit()
    for name in TopologicalSorter(applied).static_order():
        counts[name] = 1
        for holder, other, negated in list(_in_place(definitions.get(name, {}))):
            if counts[name] + counts[other] > most:
                _cut(holder, _CUT, negated=negated)
            else:
                counts[name] += counts[other]


def _cut(holder: Schema, why: str, *, negated: bool) -> None:
    holder.pop("$ref", None)
    holder["$comment"] = why
    if negated:
        holder["not"] = {}


def _break_loops(start: str, definitions: dict[str, Schema], done: set[str]) -> None:
    """Cut schemas that apply themselves to the same value: `A: {allOf: [A]}`."""
    path: list[str] = [start]
    waiting: list[Iterator[tuple[Schema, str, bool]]] = [_in_place(definitions[start])]
    while waiting:
        found = next(waiting[-1], None)
        if found is None:
            waiting.pop()
            done.add(path.pop())
            continue
        holder, name, negated = found
        if name in path:
            _cut(holder, "The document's schema refers to itself here.", negated=negated)
        elif name not in done:
            path.append(name)
            waiting.append(_in_place(definitions[name]))


def _in_place(schema: Schema, *, negated: bool = False) -> Iterator[tuple[Schema, str, bool]]:
    """Yield every reference that applies to the same value, and whether it is under a `not`."""
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


def _without_annotations(schema: Schema) -> Schema:
    """Remove annotations; properties of the same names are kept."""
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
        return _without_annotations(cast("Schema", value))
    if isinstance(value, list):
        return [_part(item) for item in cast("list[Any]", value)]
    return value


def _size(schema: Schema) -> int:
    return len(msgspec.json.encode(schema))
