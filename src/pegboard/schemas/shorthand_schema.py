"""RFC-0003 shorthand schemas (`{query: string}`) as JSON Schema."""

from collections.abc import Mapping
from typing import Any

from pegboard.errors import ConfigError

_TYPES: Mapping[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "str": {"type": "string"},
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "int": {"type": "integer"},
    "number": {"type": "number"},
    "float": {"type": "number"},
    "boolean": {"type": "boolean"},
    "bool": {"type": "boolean"},
    "object": {"type": "object"},
    "dict": {"type": "object"},
    "list": {"type": "array"},
    "array": {"type": "array"},
    "any": {},
}
_SCHEMA_KEYS = frozenset({"type", "properties", "$ref", "anyOf", "oneOf", "allOf", "$schema"})


WORDS = tuple(_TYPES)
"""The type names of the shorthand."""


def schema_of(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Convert a shorthand into JSON Schema; real JSON Schema passes through.

    Every name of a shorthand is required.

    Raises:
        ConfigError: It is neither; names the place.
    """
    if _is_schema(given):
        return dict(given)
    properties = {name: _property(item, f"{where}.{name}") for name, item in given.items()}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _is_schema(given: Mapping[str, Any]) -> bool:
    """A schema says its type, or is put together from others; a shorthand only names types."""
    if "properties" in given:
        return isinstance(given["properties"], Mapping)
    if given.get("type") == "object" and all(
        not isinstance(v, str) for k, v in given.items() if k != "type"
    ):
        return True
    return bool(given.keys() & (_SCHEMA_KEYS - {"type", "properties"}))


def _property(item: Any, where: str) -> dict[str, Any]:
    if isinstance(item, str):
        known = _TYPES.get(item.lower())
        if known is None:
            raise ConfigError(
                f"{where}: '{item}' is not a type; known types are {', '.join(_TYPES)}"
            )
        return dict(known)
    if isinstance(item, Mapping):
        inner: Mapping[str, Any] = item  # pyright: ignore[reportUnknownVariableType]  # YAML gives text keys
        if not inner or inner.keys() & _SCHEMA_KEYS:
            return dict(inner)
        return schema_of(inner, where)
    if isinstance(item, list) and len(item) == 1:  # pyright: ignore[reportUnknownArgumentType]  # any JSON
        return {"type": "array", "items": _property(item[0], f"{where}[0]")}
    raise ConfigError(f"{where}: expected a type such as 'string', or a JSON Schema")
