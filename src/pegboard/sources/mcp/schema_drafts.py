"""Converts JSON Schemas of older drafts to draft 2020-12."""

import json
from collections.abc import Mapping
from typing import Any, cast

from pegboard.errors import SourceUnavailable
from pegboard.schemas.validator import compile_schema

DRAFT = "https://json-schema.org/draft/2020-12/schema"
NOTHING: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}

_MAX_CHARACTERS = 1_000_000
Schema = dict[str, Any]
_OF_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_ONE = (
    *("items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "contains"),
    *("propertyNames", "not", "if", "then", "else"),
)


def check_schema(tool: str, schema: Mapping[str, Any]) -> Schema:
    """Convert a schema to draft 2020-12 and check that it compiles.

    Raises:
        SourceUnavailable: It is broken, or refers to something outside itself.
    """
    size = len(json.dumps(schema))
    if size > _MAX_CHARACTERS:
        raise SourceUnavailable(
            f"'{tool}' has a JSON Schema of {size // 1000} kB, and {_MAX_CHARACTERS // 1000} kB "
            "is the limit; leave the tool out with 'exclude', or fix its schema.",
            permanent=True,
        )
    found = modern(schema)
    outward = _outward(found)
    if outward:
        raise SourceUnavailable(
            f"'{tool}' has a JSON Schema with a reference outside itself, to {outward!r}; the "
            "server has to include it.",
            permanent=True,
        )
    compile_schema(tool, found)
    return found


def modern(schema: Mapping[str, Any]) -> Schema:
    """Convert a schema to draft 2020-12, with its renamed keywords."""
    return _older(schema) if schema.get("$schema", DRAFT) != DRAFT else dict(schema)


def _older(schema: Mapping[str, Any]) -> Schema:
    node: Schema = {key: value for key, value in schema.items() if key != "$schema"}
    _rename_items(node)
    _rename_dependencies(node)
    _rename_bounds(node)
    for key in _OF_SCHEMAS:
        if isinstance(node.get(key), Mapping):
            node[key] = {name: _within(item) for name, item in node[key].items()}
    for key in _LISTS:
        if isinstance(node.get(key), list):
            node[key] = [_within(item) for item in node[key]]
    for key in _ONE:
        if key in node:
            node[key] = _within(node[key])
    return node


def _rename_items(node: Schema) -> None:
    rest = node.pop("additionalItems", None)
    if isinstance(node.get("items"), list):  # until 2019: one schema for each place
        node["prefixItems"] = node.pop("items")
        if rest is not None:
            node["items"] = rest


def _rename_dependencies(node: Schema) -> None:
    for key, value in cast("Schema", node.pop("dependencies", {})).items():
        word = "dependentRequired" if isinstance(value, list) else "dependentSchemas"
        node.setdefault(word, {})[key] = value


def _rename_bounds(node: Schema) -> None:
    for bound, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        said = node.get(bound)  # draft 4: a switch beside the bound
        if said is True and plain in node:
            node[bound] = node.pop(plain)
        elif isinstance(said, bool):
            del node[bound]


def _within(value: Any) -> Any:
    return _older(cast("Schema", value)) if isinstance(value, Mapping) else value


def _outward(node: Any) -> str:
    if isinstance(node, list):
        items = map(_outward, cast("list[Any]", node))
        return next((item for item in items if item), "")
    if not isinstance(node, Mapping):
        return ""
    for key, value in cast("Mapping[str, Any]", node).items():
        if key in ("$ref", "$dynamicRef") and isinstance(value, str):
            if not value.startswith("#"):
                return value
        elif found := _outward(value):
            return found
    return ""
