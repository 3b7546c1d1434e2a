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
from pegboard.schemas.validation_cost import (
    CHEAP,
    SchemaCost,
    can_list_errors,
    is_affordable,
    read_branch_limit,
    regex_options,
)

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

TOO_MANY_ERRORS = "does not fit the schema, which has too many alternatives to list the errors"
"""Says that a value is invalid where the errors cannot be listed."""

_PROBE = 0.5
"""Replaces a whole number in a probe: a schema that refuses it accepts only integers there."""


class _JsonSchemaValidator(Protocol):
    """The part of a jsonschema-rs validator that is used here."""

    def is_valid(self, instance: Any) -> bool: ...

    def iter_errors(self, instance: Any) -> "Iterator[ValidationError]": ...


class Validator:
    """Validates instances within bounds of time and memory.

    Attributes:
        is_valid: Whether an instance fits; false if that takes too long to find out.
    """

    def __init__(self, validator: _JsonSchemaValidator, cost: SchemaCost) -> None:
        self._validator = validator
        self._cost = cost
        is_cheap = cost.count_visits() <= CHEAP
        self.is_valid = validator.is_valid if is_cheap else self._is_valid_in_time

    def list_errors(self, instance: Any) -> "list[ValidationError] | None":
        """List all errors; None if they would take too much time or memory."""
        if not can_list_errors(self._cost, instance):
            return None
        return list(self._validator.iter_errors(instance))

    def _is_valid_in_time(self, instance: Any) -> bool:
        return is_affordable(self._cost, instance) and self._validator.is_valid(instance)


def compile_schema(name: str, schema: JsonSchema) -> Validator:
    """Compile a schema to a validator, offline. Formats are annotations.

    Args:
        name: The tool's, for the message.
        schema: JSON Schema of any draft; 2020-12 unless it says otherwise.

    Raises:
        SourceUnavailable: The schema is broken, has too many alternatives, or refers to something
            outside itself.
    """
    import jsonschema_rs

    cost = SchemaCost(schema)
    try:
        validator = jsonschema_rs.validator_for(
            dict(schema),
            retriever=_offline,
            validate_formats=False,
            pattern_options=regex_options(),
        )
        number = cost.count_branches()
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
    if cost.fault:
        raise SourceUnavailable(
            f"'{name}' has a JSON Schema whose validation cannot be bounded: it {cost.fault}",
            permanent=True,
        )
    if number > (most := read_branch_limit()):
        raise SourceUnavailable(
            f"'{name}' has a JSON Schema with {number:,} alternatives for one value; at most "
            f"{most:,} are allowed (PEGBOARD_MAX_SCHEMA_ALTERNATIVES), since a validation may try "
            "them all",
            permanent=True,
        )
    return Validator(validator, cost)


def output_problem(validator: Validator, value: Any) -> str:
    """The first fault of an output; empty when it is valid."""
    if validator.is_valid(value):
        return ""
    errors = validator.list_errors(value)
    if not errors:
        return f"output: {TOO_MANY_ERRORS}"
    fault = errors[0]
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
    errors = validator.list_errors(document) or ()
    wanted = jsonschema_errors.find_integer_locations(document, errors)
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
