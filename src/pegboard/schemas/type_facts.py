"""What is known of every value that fits a schema: never less than is true, sometimes not all."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from pegboard.schemas.document import Document, Node

Number = int | float
Bound = tuple[Number, bool]
"""A number, and whether it is itself outside."""

WHOLE, BROKEN = "whole number", "number with a fraction"
TYPES = frozenset({"null", "boolean", WHOLE, BROKEN, "string", "array", "object"})
_OF_TYPE: dict[str, frozenset[str]] = {
    **{name: frozenset({name}) for name in ("null", "boolean", "string", "array", "object")},
    "integer": frozenset({WHOLE}),
    "number": frozenset({WHOLE, BROKEN}),
}
_ONLY: dict[str, Node] = {
    name: {"type": name} for name in ("null", "boolean", "number", "string", "array", "object")
}


def types_of(node: Node) -> frozenset[str]:
    """The types that `type` lets through."""
    said = node.get("type")
    if said is None:
        return TYPES
    names = [said] if isinstance(said, str) else cast("list[str]", said)
    return frozenset[str]().union(*(_OF_TYPE[name] for name in names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """All values that fit all of these parts of a document.

    Attributes:
        chosen: Alternatives (part and keyword) of which one has been picked already.
    """

    document: Document
    nodes: tuple[Node, ...]
    chosen: frozenset[tuple[int, str]] = frozenset()

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells two of them apart, as long as their documents live."""
        return (id(self.document), frozenset(map(id, self.nodes)), self.chosen)

    def alternatives(self) -> "list[Values]":
        """The same values as a few smaller sets, by the first `anyOf` or `oneOf`; maybe none."""
        for node in self.nodes:
            for keyword in ("anyOf", "oneOf"):
                if keyword in node and (id(node), keyword) not in self.chosen:
                    chosen = self.chosen | {(id(node), keyword)}
                    return [self._and(option, chosen) for option in node[keyword]]
        return []

    def by_type(self, types: frozenset[str]) -> "list[Values]":
        """The same values, one set for each of these types; none when there is only one."""
        names = [name for name in _ONLY if _OF_TYPE[name] & types]
        if len(names) < 2:
            return []
        return [replace(self, nodes=(*self.nodes, _ONLY[name])) for name in names]

    def _and(self, schema: Any, chosen: frozenset[tuple[int, str]]) -> "Values":
        known = set(map(id, self.nodes))
        added = [node for node in self.document.nodes(schema) if id(node) not in known]
        return replace(self, nodes=(*self.nodes, *added), chosen=chosen)


class Facts:
    """What all values of a set have in common; where a part is not understood, it is left out."""

    def __init__(self, values: Values) -> None:
        self._nodes = values.nodes
        self._document = values.document
        self._has_alternatives = bool(values.alternatives())

    @cached_property
    def types(self) -> frozenset[str]:
        """The types that they may have."""
        types = TYPES
        for node in self._nodes:
            types &= types_of(node)
        return types

    @cached_property
    def listed(self) -> list[Any] | None:
        """The values themselves where they are few; None otherwise."""
        lists = [list(node["enum"]) for node in self._nodes if "enum" in node]
        lists += [[node["const"]] for node in self._nodes if "const" in node]
        if not lists and self.types <= {"null", "boolean"}:
            lists = [[None, True, False]]
        if not lists:
            return None
        fewest = min(lists, key=len)
        return [value for value in fewest if not self.refuse(value)]

    @property
    def is_empty(self) -> bool:
        """Whether there is surely no such value."""
        return not self.types or self.listed == []

    def refuse(self, value: Any) -> bool:
        """Whether a value is surely none of these."""
        return any(self._document.accepts(node, value) is False for node in self._nodes)

    def texts(self, keyword: str) -> frozenset[str]:
        """Every text that the parts give for a keyword: all hold."""
        return frozenset(node[keyword] for node in self._nodes if keyword in node)

    def numbers(self, keyword: str) -> list[Number]:
        """Every number that the parts give for a keyword: all hold."""
        return [node[keyword] for node in self._nodes if keyword in node]

    def least(self, keyword: str) -> Number:
        """The most that the parts demand at least, as of `minLength`; 0 where they say nothing."""
        return max(self.numbers(keyword), default=0)

    def most(self, keyword: str) -> Number:
        """The least that the parts allow at most, as of `maxLength`."""
        return min(self.numbers(keyword), default=math.inf)

    @cached_property
    def lower(self) -> Bound:
        """No number is less."""
        found = [(number, False) for number in self.numbers("minimum")]
        found += [(number, True) for number in self.numbers("exclusiveMinimum")]
        number, outside = max(found, default=(-math.inf, False))
        if BROKEN not in self.types and math.isfinite(number):
            return (math.floor(number) + 1 if outside else math.ceil(number)), False
        return number, outside

    @cached_property
    def upper(self) -> Bound:
        """No number is more."""
        found = [(number, True) for number in self.numbers("maximum")]
        found += [(number, False) for number in self.numbers("exclusiveMaximum")]
        number, inside = min(found, default=(math.inf, True))
        if BROKEN not in self.types and math.isfinite(number):
            return (math.floor(number) if inside else math.ceil(number) - 1), False
        return number, not inside

    @property
    def are_unique(self) -> bool:
        """Whether no array holds the same item twice."""
        said = any(node.get("uniqueItems") is True for node in self._nodes)
        return said or self.most("maxItems") <= 1

    def item(self, place: int) -> Values:
        """What an array holds at this place."""
        return self._all(_item_of(node, place) for node in self._nodes)

    @property
    def places(self) -> int:
        """How many places of an array are described one by one."""
        return max((len(places_of(node)) for node in self._nodes), default=0)

    @cached_property
    def required(self) -> frozenset[str]:
        """The properties that every object has."""
        return frozenset[str]().union(*(node.get("required", ()) for node in self._nodes))

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The properties that are described by name, in order."""
        names = (name for node in self._nodes for name in node.get("properties", ()))
        return tuple(dict.fromkeys(names))

    def under(self, name: str) -> Values:
        """What an object has under this name, if it has it."""
        if self._is_taken_as_closed and name not in self.named:
            return self._all([False])
        return self._all(_property_of(node, name) for node in self._nodes)

    @property
    def others(self) -> Values:
        """What an object has under names that are not described."""
        if self._is_taken_as_closed:
            return self._all([False])
        return self._all(_other_of(node) for node in self._nodes)

    @property
    def most_properties(self) -> Number:
        """No object has more."""
        most = self.most("maxProperties")
        return min(most, len(self.named)) if Facts(self.others).is_empty else most

    @property
    def least_properties(self) -> Number:
        """No object has fewer."""
        return max(self.least("minProperties"), len(self.required))

    @cached_property
    def _is_taken_as_closed(self) -> bool:
        nodes = self._nodes
        return (
            self._document.closed
            and not self._has_alternatives
            and any("properties" in node for node in nodes)
            and not any(not _SAY_MORE.isdisjoint(node) for node in nodes)
        )

    def _all(self, schemas: Iterable[Any]) -> Values:
        nodes = (node for schema in schemas for node in self._document.nodes(schema))
        unique = {id(node): node for node in nodes}
        return Values(document=self._document, nodes=tuple(unique.values()))


_SAY_MORE = frozenset(
    {"additionalProperties", "unevaluatedProperties", "patternProperties", "if", "not"}
    | {"dependentSchemas", "dependencies", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf"}
)


def places_of(node: Node) -> Sequence[Any]:
    """The schemas of single places of an array, in any draft's words."""
    items = node.get("items")
    return cast("list[Any]", items) if isinstance(items, list) else node.get("prefixItems", ())


def rest_of(node: Node) -> Any:
    """The schema of the places after those; `True` when nothing is said."""
    items = node.get("items", True)
    return node.get("additionalItems", True) if isinstance(items, list) else items


def _item_of(node: Node, place: int) -> Any:
    places = places_of(node)
    return places[place] if place < len(places) else rest_of(node)


def _property_of(node: Node, name: str) -> Any:
    properties = node.get("properties", {})
    if name in properties:
        return properties[name]
    return _other_of(node)


def _other_of(node: Node) -> Any:
    """What holds for any name that `properties` does not have; patterns may make exceptions."""
    return True if "patternProperties" in node else node.get("additionalProperties", True)
