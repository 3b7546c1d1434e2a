"""Input schemas as model providers accept them: an object without combinators at the top.

OpenAI and Anthropic refuse a whole request for one schema with `anyOf`, `oneOf`, `allOf`, `not` or
`enum` at its top. What is removed here is still enforced by the call itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

_REFUSED = ("allOf", "anyOf", "oneOf", "not", "enum", "if", "then", "else", "dependentSchemas")
_MAX_DEPTH = 20


def provider_schema(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema itself where providers accept it, else an object with all possible arguments."""
    if schema.get("type") == "object" and "properties" in schema and not _is_refused(schema):
        return schema
    merged = _merge(schema, schema, 0)
    kept = {key: value for key, value in schema.items() if key not in (*_REFUSED, "$ref")}
    kept["type"] = "object"
    kept["properties"] = merged["properties"]
    kept.pop("required", None)
    if merged["required"]:
        kept["required"] = merged["required"]
    kept.pop("unevaluatedProperties", None)
    return kept


def _is_refused(schema: Mapping[str, Any]) -> bool:
    return "$ref" in schema or any(key in schema for key in _REFUSED)


def _merge(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """The properties of a schema and all its parts, and those that every choice requires."""
    properties: dict[str, Any] = dict(schema.get("properties", {}))
    required: list[str] = list(schema.get("required", ()))
    if depth == _MAX_DEPTH:
        return {"properties": properties, "required": required}
    target = _target(schema.get("$ref"), root)
    whole = [target] if target is not None else []
    for part in (*whole, *_parts(schema, "allOf")):
        inner = _merge(part, root, depth + 1)
        properties = {**inner["properties"], **properties}
        required += inner["required"]
    for key in ("anyOf", "oneOf"):
        choices = [_merge(part, root, depth + 1) for part in _parts(schema, key)]
        for choice in choices:
            properties = {**choice["properties"], **properties}
        first, others = choices[:1], choices[1:]
        for choice in first:
            names = choice["required"]
            required += [n for n in names if all(n in other["required"] for other in others)]
    for key in ("then", "else"):
        for part in _parts({key: [schema[key]]} if key in schema else {}, key):
            properties = {**_merge(part, root, depth + 1)["properties"], **properties}
    return {"properties": properties, "required": list(dict.fromkeys(required))}


def _parts(schema: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    parts = cast("Sequence[Any]", schema.get(key, ()))
    return [cast("Mapping[str, Any]", part) for part in parts if isinstance(part, Mapping)]


def _target(reference: Any, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a `$ref` within the document leads to."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    node: Any = root
    for step in reference[2:].split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, Mapping) or key not in node:
            return None
        node = cast("Mapping[str, Any]", node)[key]
    return cast("Mapping[str, Any]", node) if isinstance(node, Mapping) else None
