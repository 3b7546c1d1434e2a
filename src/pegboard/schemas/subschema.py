"""The schema of what is at a path within values, such as `items[0].price` of an output."""

from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import unquote

from msgspec import Struct

from pegboard.core.tool import JsonSchema

_DEFS = ("$defs", "definitions")
_MAX_REFS = 50


class SubSchema(Struct, frozen=True, kw_only=True):
    """What is known of the value at a path.

    Attributes:
        schema: Its JSON Schema, complete in itself; None when nothing is known.
        problem: Why there can be no value at the path; empty when there can.
    """

    schema: JsonSchema | None = None
    problem: str = ""


def schema_at(schema: JsonSchema | None, path: Sequence[str | int]) -> SubSchema:
    """What a schema says of the value at a path.

    An object schema that lists properties and does not mention others is taken to have no others,
    as most authors mean it.

    ```python
    schema_at({"properties": {"a": {"type": "integer"}}}, ["a"]).schema  # {"type": "integer"}
    ```

    Args:
        schema: JSON Schema of the whole value; None when nothing is known.
        path: Names of properties, and 0-based indexes of arrays.
    """
    if schema is None:
        return SubSchema()
    node: Any = schema
    for position, key in enumerate(path):
        alternatives = _alternatives(schema, node)
        found = [_below(item, key) for item in alternatives]
        problems = [item for item in found if isinstance(item, str)]
        if len(problems) == len(found):
            return SubSchema(problem=problems[0] if problems else "nothing can be there")
        possible = [item for item in found if not isinstance(item, str)]
        if None in possible or not possible:
            return SubSchema()
        if len(possible) > 1:
            rest = [schema_at(_complete(schema, item), path[position + 1 :]) for item in possible]
            return _any_of(rest)
        node = possible[0]
    return SubSchema(schema=_complete(schema, node))


def resolve_ref(root: JsonSchema, reference: str) -> Any:
    """The target of a JSON Pointer in a `$ref` (RFC 6901, section 6); None when there is none."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    node: Any = root
    for part in reference.split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = cast("Mapping[str, Any]", node).get(key)
        elif isinstance(node, list) and key.isdecimal():
            items = cast("list[Any]", node)
            node = items[int(key)] if int(key) < len(items) else None
        else:
            return None
    return node


def _any_of(alternatives: Sequence[SubSchema]) -> SubSchema:
    schemas = [item.schema for item in alternatives if not item.problem]
    if not schemas:
        return alternatives[0]
    known = [dict(item) for item in schemas if item is not None]
    if len(known) < len(schemas):
        return SubSchema()
    definitions = {key: item.pop(key) for item in known for key in _DEFS if key in item}
    return SubSchema(schema={"anyOf": known, **definitions})


def _complete(root: JsonSchema, node: Any) -> JsonSchema | None:
    """A part of a schema with the definitions that it may refer to."""
    if node is root:
        return root
    if not isinstance(node, Mapping):
        return None
    part = dict(cast("Mapping[str, Any]", node))
    return {**{key: root[key] for key in _DEFS if key in root}, **part}


def _alternatives(root: JsonSchema, node: Any, max_refs: int = _MAX_REFS) -> list[Any]:
    """The schemas of which a value matches one, with references followed."""
    if not isinstance(node, Mapping) or max_refs == 0:
        return [None]
    schema = cast("Mapping[str, Any]", node)
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _alternatives(root, resolve_ref(root, reference), max_refs - 1)
    for word in ("anyOf", "oneOf"):
        if isinstance(schema.get(word), list):
            return [
                found for item in schema[word] for found in _alternatives(root, item, max_refs - 1)
            ]
    parts = schema.get("allOf")
    if (
        isinstance(parts, list)
        and len(cast("list[Any]", parts)) == 1
        and "properties" not in schema
    ):
        return _alternatives(root, parts[0], max_refs - 1)
    return [schema]


def _below(schema: Mapping[str, Any] | None, key: str | int) -> "Mapping[str, Any] | str | None":
    """The schema one step below; None when unknown, a sentence when nothing can be there."""
    if schema is None or "allOf" in schema or "$dynamicRef" in schema:
        return None
    types = schema.get("type")
    kinds = [types] if isinstance(types, str) else types
    wanted = "array" if isinstance(key, int) else "object"
    if isinstance(kinds, list) and wanted not in kinds:
        return f"it is of type {' or '.join(map(str, cast('list[Any]', kinds)))}, not {wanted}"
    return _item(schema, key) if isinstance(key, int) else _property(schema, key)


def _as_schema(node: Any) -> Mapping[str, Any] | None:
    return cast("Mapping[str, Any]", node) if isinstance(node, Mapping) else None


def _item(schema: Mapping[str, Any], index: int) -> Mapping[str, Any] | str | None:
    first = schema.get("prefixItems")
    if isinstance(first, list) and index < len(cast("list[Any]", first)):
        return _as_schema(first[index])
    rest = schema.get("items")
    return f"the list has no item {index}" if rest is False else _as_schema(rest)


def _property(schema: Mapping[str, Any], key: str) -> Mapping[str, Any] | str | None:
    properties = cast("Mapping[str, Any]", schema.get("properties") or {})
    if key in properties:
        return _as_schema(properties[key])
    rest = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
    if isinstance(rest, Mapping):
        return cast("Mapping[str, Any]", rest)
    if rest is True or "patternProperties" in schema or (rest is None and not properties):
        return None
    known = ", ".join(list(properties)[:8]) or "nothing"
    return f"it has no '{key}', only {known}"
