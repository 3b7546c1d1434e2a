"""Look up property names and descriptions at a location of a schema."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from pegboard.core.tool import JsonSchema
from pegboard.schemas.strict_json import Location
from pegboard.schemas.subschema import resolve_ref

_MAX_DEPTH = 20
_ALTERNATIVES = ("anyOf", "oneOf", "allOf")


def property_names(schema: JsonSchema, place: Location) -> list[str]:
    """The names of the properties at a location, of every alternative."""
    names: dict[str, None] = {}
    for node in _nodes(schema, place):
        names.update(dict.fromkeys(_mapping(node, "properties")))
    return list(names)


def description_of(schema: JsonSchema, place: Location) -> str:
    """The description of a property; empty when there is none."""
    *parents, name = place
    for node in _nodes(schema, tuple(parents)):
        about: Any = _mapping(_mapping(node, "properties"), str(name)).get("description")
        if isinstance(about, str):
            return about
    return ""


def _nodes(root: JsonSchema, place: Location) -> list[Mapping[str, Any]]:
    here = list(_expand(root, root, _MAX_DEPTH))
    for step in place:
        children = (child for node in here for child in _children(node, step))
        found = (node for child in children for node in _expand(root, child, _MAX_DEPTH))
        here = list({id(node): node for node in found}.values())
    return here


def _expand(root: JsonSchema, node: Any, levels: int) -> Iterator[Mapping[str, Any]]:
    """The node itself and all schemas behind its references and alternatives."""
    if not isinstance(node, Mapping) or levels == 0:
        return
    here = cast("Mapping[str, Any]", node)
    yield here
    if isinstance(here.get("$ref"), str):
        yield from _expand(root, resolve_ref(root, here["$ref"]), levels - 1)
    for key in _ALTERNATIVES:
        for member in _sequence(here, key):
            yield from _expand(root, member, levels - 1)


def _children(node: Mapping[str, Any], step: str | int) -> Iterable[Any]:
    if isinstance(step, int):
        fixed = _sequence(node, "prefixItems")
        return [fixed[step]] if step < len(fixed) else [node.get("items")]
    properties = _mapping(node, "properties")
    return [properties[step]] if step in properties else [node.get("additionalProperties")]


def _mapping(node: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = node.get(key)
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _sequence(node: Mapping[str, Any], key: str) -> list[Any]:
    value = node.get(key)
    return cast("list[Any]", value) if isinstance(value, list) else []
