"""What a JSON Schema says of a place within its values."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec import Struct

from pegboard.core.tool import JsonSchema
from pegboard.graphs.expressions.references import Key

_DEFS = ("$defs", "definitions")
_MOST_REFS = 50


class SubSchema(Struct, frozen=True, kw_only=True):
    """What is known of a place.

    Attributes:
        schema: Of what is there, complete in itself; None when nothing is known.
        problem: Why nothing can be there; empty when something can.
    """

    schema: JsonSchema | None = None
    problem: str = ""


def schema_at(schema: JsonSchema | None, keys: Sequence[Key]) -> SubSchema:
    """The schema of what a path leads to.

    An object that lists its properties and does not speak of others is taken to have no others, as
    most authors mean it.
    """
    if schema is None:
        return SubSchema()
    node: Any = schema
    for place, key in enumerate(keys):
        alternatives = _alternatives(schema, node)
        found = [_below(item, key) for item in alternatives]
        problems = [item for item in found if isinstance(item, str)]
        if len(problems) == len(found):
            return SubSchema(problem=problems[0] if problems else "nothing can be there")
        open_ones = [item for item in found if not isinstance(item, str)]
        if None in open_ones or not open_ones:
            return SubSchema()
        if len(open_ones) > 1:
            rest = [schema_at(_complete(schema, item), keys[place + 1 :]) for item in open_ones]
            return _any_of(rest)
        node = open_ones[0]
    return SubSchema(schema=_complete(schema, node))


def _any_of(seen: Sequence[SubSchema]) -> SubSchema:
    schemas = [item.schema for item in seen if not item.problem]
    if not schemas:
        return seen[0]
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


def _alternatives(root: JsonSchema, node: Any, most: int = _MOST_REFS) -> list[Any]:
    """The schemas one of which a value fits; references followed."""
    if not isinstance(node, Mapping) or most == 0:
        return [None]
    schema = cast("Mapping[str, Any]", node)
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _alternatives(root, referred(root, reference), most - 1)
    for word in ("anyOf", "oneOf"):
        if isinstance(schema.get(word), list):
            return [found for item in schema[word] for found in _alternatives(root, item, most - 1)]
    parts = schema.get("allOf")
    if (
        isinstance(parts, list)
        and len(cast("list[Any]", parts)) == 1
        and "properties" not in schema
    ):
        return _alternatives(root, parts[0], most - 1)
    return [schema]


def referred(root: JsonSchema, reference: str) -> Any:
    """What a `$ref` within the document means; None when it means nothing there."""
    if not reference.startswith("#"):
        return None
    node: Any = root
    for part in reference[1:].split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, Mapping) or key not in node:
            return None
        node = cast("Mapping[str, Any]", node)[key]
    return node


def _below(schema: Mapping[str, Any] | None, key: Key) -> "Mapping[str, Any] | str | None":
    """The schema below; None when nothing is known, a sentence when nothing can be there."""
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
