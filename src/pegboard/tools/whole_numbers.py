"""Whole numbers that arrive as `1.0`, which JSON Schema counts among the integers."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from pegboard.tools import faults
from pegboard.tools.coercion import replaced
from pegboard.tools.json_text import Location

if TYPE_CHECKING:
    from pegboard.tools.raw_schema import Validator

_PROBE = 0.5
"""Put in the place of a whole number: who refuses its type wants an integer there."""


def names_integers(schema: Any) -> bool:
    """Whether a place that this schema describes may have to be an integer."""
    if isinstance(schema, Mapping):
        node = cast("Mapping[str, Any]", schema)
        said = node.get("type")
        if said == "integer" or (isinstance(said, list) and "integer" in said):
            return True
        return any(names_integers(item) for item in node.values())
    return isinstance(schema, list) and any(
        names_integers(item) for item in cast("list[Any]", schema)
    )


def as_integers(document: dict[str, Any], validator: "Validator") -> dict[str, Any]:
    """The valid document with integers where the schema takes no other number; changed in place."""
    found = [(place, value) for place, value in _floats(document, ()) if value.is_integer()]
    if not found:
        return document
    for place, _ in found:
        replaced(document, place, _PROBE)
    wanted = faults.integer_places(document, list(validator.iter_errors(document)))
    for place, value in found:
        replaced(document, place, int(value) if place in wanted else value)
    return document


def _floats(value: Any, place: Location) -> Iterator[tuple[Location, float]]:
    items: Any
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
    else:
        items = enumerate(cast("list[Any]", value))
    for key, item in items:
        kind = item.__class__
        if kind is float:
            yield (*place, key), item
        elif kind is dict or kind is list:
            yield from _floats(item, (*place, key))
