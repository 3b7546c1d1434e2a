"""JSON Schema validators of jsonschema-rs, always offline.

A `$ref` that points outside the document fails; it never fetches a URL or a file.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from pegboard.core.tool import JsonSchema
from pegboard.errors import SourceUnavailable
from pegboard.schemas import jsonschema_errors
from pegboard.schemas.coercion import replace_at
from pegboard.schemas.problems import path_of, shorten
from pegboard.schemas.strict_json import Location

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_MAX_STEPS = 100_000
"""Steps of a backtracking pattern; then the text counts as not matching."""

_PROBE = 0.5
"""Replaces a whole number in a probe: a schema that refuses it accepts only integers there."""


class Validator(Protocol):
    """The part of a jsonschema-rs validator that is used here."""

    def is_valid(self, instance: Any) -> bool:
        """Whether the instance fits."""
        ...

    def iter_errors(self, instance: Any) -> "Iterator[ValidationError]":
        """All faults."""
        ...


def compile_schema(name: str, schema: JsonSchema) -> Validator:
    """Compile a schema to a validator, offline. Formats are annotations.

    Args:
        name: The tool's, for the message.
        schema: JSON Schema of any draft; 2020-12 unless it says otherwise.

    Raises:
        SourceUnavailable: The schema is broken or refers to something outside itself.
    """
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(
            dict(schema),
            retriever=_offline,
            validate_formats=False,
            pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_MAX_STEPS),
        )
    except jsonschema_rs.ValidationError as error:
        place = path_of(error.instance_path)
        reason = shorten(f"at '{place}': {error.message}" if place else error.message)
        raise SourceUnavailable(
            f"'{name}' has a broken JSON Schema: {reason}", permanent=True
        ) from error
    except (ValueError, TypeError, RecursionError) as error:
        reason = shorten(str(error).partition("\n")[0])
        raise SourceUnavailable(
            f"'{name}' has a broken JSON Schema: {reason}", permanent=True
        ) from error


def output_problem(validator: Validator, value: Any) -> str:
    """The first fault of an output; empty when it is valid."""
    if validator.is_valid(value):
        return ""
    fault = next(iter(validator.iter_errors(value)))
    return f"{path_of(fault.instance_path) or 'output'}: {shorten(fault.message)}"


def allows_integers(schema: Any) -> bool:
    """Whether the schema expects an integer anywhere."""
    if isinstance(schema, Mapping):
        node = cast("Mapping[str, Any]", schema)
        said = node.get("type")
        if said == "integer" or (isinstance(said, list) and "integer" in said):
            return True
        return any(allows_integers(item) for item in node.values())
    return isinstance(schema, list) and any(
        allows_integers(item) for item in cast("list[Any]", schema)
    )


def restore_integers(document: dict[str, Any], validator: Validator) -> dict[str, Any]:
    """Convert whole floats of a valid document to integers where the schema expects them."""
    found = [(place, value) for place, value in _floats(document, ()) if value.is_integer()]
    if not found:
        return document
    for place, _ in found:
        replace_at(document, place, _PROBE)
    wanted = jsonschema_errors.find_integer_locations(
        document, list(validator.iter_errors(document))
    )
    for place, value in found:
        replace_at(document, place, int(value) if place in wanted else value)
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


def _offline(uri: str) -> Any:
    raise ValueError(f"'{uri}' is outside the document, and schemas are read offline")
