"""The values that fit a part of a JSON Schema, and what is certain about all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from pegboard.schemas.document import NEVER, Node, SchemaDocument

FRACTION = "number with a fraction"
"""The numbers that are no integers: JSON Schema has no type of its own for them."""

TYPES = frozenset({"null", "boolean", "integer", FRACTION, "string", "array", "object"})
_JSON_TYPES = ("null", "boolean", "number", "string", "array", "object")
_OF_ONE_TYPE: dict[str, Node] = {name: {"type": name} for name in _JSON_TYPES}


def types_of(node: Node) -> frozenset[str]:
    """The types that the keyword `type` allows; all of them without it."""
    declared = node.get("type")
    if declared is None:
        return TYPES
    names = {declared} if isinstance(declared, str) else set(cast("list[str]", declared))
    return frozenset(names - {"number"} | ({"integer", FRACTION} if "number" in names else set()))


@dataclass(frozen=True, kw_only=True)
class ValueSet:
    """All values that fit every one of these parts of a document.

    What it says holds for each of the values. Keywords that it does not know are left out, so that
    there may be more to say.

    Attributes:
        chosen: The alternatives (part and keyword) of which `alternatives` has chosen one.
    """

    document: SchemaDocument
    nodes: tuple[Node, ...]
    chosen: frozenset[tuple[int, str]] = frozenset()

    @classmethod
    def of(cls, document: SchemaDocument, *schemas: Any) -> "ValueSet":
        """The values that fit all of these schemas of the document."""
        nodes = (node for schema in schemas for node in document.nodes(schema))
        unique = {id(node): node for node in nodes}
        return cls(document=document, nodes=tuple(unique.values()))

    @property
    def key(self) -> tuple[Any, ...]:
        """A hashable identity, valid as long as the documents live."""
        return (id(self.document), frozenset(map(id, self.nodes)), self.chosen)

    def alternatives(self) -> "list[ValueSet]":
        """One set for each option of the first `anyOf` or `oneOf`; empty when there is none."""
        for node in self.nodes:
            for keyword in ("anyOf", "oneOf"):
                if keyword in node and (id(node), keyword) not in self.chosen:
                    chosen = self.chosen | {(id(node), keyword)}
                    return [self._narrow(option, chosen) for option in node[keyword]]
        return []

    def split_by_type(self) -> "list[ValueSet]":
        """One set for each JSON type that the values may have; empty when there is only one."""
        nodes = [node for node in _OF_ONE_TYPE.values() if types_of(node) & self.types]
        if len(nodes) < 2:
            return []
        return [replace(self, nodes=(*self.nodes, node)) for node in nodes]

    def _narrow(self, schema: Any, chosen: frozenset[tuple[int, str]]) -> "ValueSet":
        known = set(map(id, self.nodes))
        added = [node for node in self.document.nodes(schema) if id(node) not in known]
        return replace(self, nodes=(*self.nodes, *added), chosen=chosen)

    @cached_property
    def types(self) -> frozenset[str]:
        """The types that the values may have."""
        return TYPES.intersection(*map(types_of, self.nodes))

    @cached_property
    def listed(self) -> list[Any] | None:
        """The values themselves where `enum` or `const` lists them; None otherwise."""
        lists = [list(node["enum"]) for node in self.nodes if "enum" in node]
        lists += [[node["const"]] for node in self.nodes if "const" in node]
        if not lists:
            return None
        return [value for value in min(lists, key=len) if not self.excludes(value)]

    @property
    def is_empty(self) -> bool:
        """Whether there is certainly no such value."""
        return not self.types or self.listed == []

    def excludes(self, value: Any) -> bool:
        """Whether a value is certainly none of these."""
        return any(self.document.accepts(node, value) is False for node in self.nodes)

    @property
    def min_items(self) -> int:
        """The number of items that every array has at least."""
        return int(max((node.get("minItems", 0) for node in self.nodes), default=0))

    @property
    def positions(self) -> int:
        """The number of array positions that have a schema of their own."""
        return max((len(position_schemas(node)) for node in self.nodes), default=0)

    def get_item(self, index: int) -> "ValueSet":
        """The values at an index of the arrays."""
        return self.of(self.document, *(_item_schema(node, index) for node in self.nodes))

    @cached_property
    def required(self) -> frozenset[str]:
        """The properties that every object has."""
        return frozenset[str]().union(*(node.get("required", ()) for node in self.nodes))

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The properties that are described by name, in order."""
        names = (name for node in self.nodes for name in node.get("properties", ()))
        return tuple(dict.fromkeys(names))

    def get_property(self, name: str) -> "ValueSet":
        """The values of a property, in the objects that have it."""
        if self._is_taken_as_closed and name not in self.named:
            return self.of(self.document, NEVER)
        return self.of(self.document, *(_property_schema(node, name) for node in self.nodes))

    @property
    def others(self) -> "ValueSet":
        """The values of properties that are not described by name."""
        if self._is_taken_as_closed:
            return self.of(self.document, NEVER)
        return self.of(self.document, *map(_other_schema, self.nodes))

    @cached_property
    def _is_taken_as_closed(self) -> bool:
        return (
            self.document.closed
            and any("properties" in node for node in self.nodes)
            and all(_OPENING.isdisjoint(node) for node in self.nodes)
        )


_OPENING = frozenset(
    {"additionalProperties", "unevaluatedProperties", "patternProperties", "if", "not"}
    | {"dependentSchemas", "dependencies", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf"}
)


def position_schemas(node: Node) -> Sequence[Any]:
    """The schemas of single array positions, in the words of any draft."""
    items = node.get("items")
    return cast("list[Any]", items) if isinstance(items, list) else node.get("prefixItems", ())


def rest_schema(node: Node) -> Any:
    """The schema of the array positions after those; `True` without one."""
    items = node.get("items", True)
    return node.get("additionalItems", True) if isinstance(items, list) else items


def _item_schema(node: Node, index: int) -> Any:
    schemas = position_schemas(node)
    return schemas[index] if index < len(schemas) else rest_schema(node)


def _property_schema(node: Node, name: str) -> Any:
    properties = node.get("properties", {})
    return properties[name] if name in properties else _other_schema(node)


def _other_schema(node: Node) -> Any:
    """The schema of properties without a name; a pattern may exempt any of them."""
    return True if "patternProperties" in node else node.get("additionalProperties", True)
