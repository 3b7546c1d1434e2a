"""Errors of jsonschema-rs, as expected types for coercion and as readable problems."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, get_args

from pydantic_core import to_json

from pegboard.core.tool import JsonSchema
from pegboard.errors import Problem
from pegboard.schemas.coercion import ExpectedType, JsonType, look_up
from pegboard.schemas.lookup import description_of, property_names
from pegboard.schemas.problems import (
    MAX_PROBLEMS,
    describe_value,
    missing_argument,
    path_of,
    shorten,
    unknown_argument,
    with_article,
)
from pegboard.schemas.strict_json import Location

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_COERCIBLE: frozenset[str] = frozenset(get_args(JsonType))
_ALTERNATIVES = frozenset({"anyOf", "oneOf"})
_OF_STRINGS = frozenset(
    {"minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"}
)


def find_expected_types(document: Any, faults: "Sequence[ValidationError]") -> list[ExpectedType]:
    """The expected type at each faulty location, except where strings are accepted."""
    found: list[ExpectedType] = []
    strings: set[Location] = set()
    for fault in _flat(faults):
        kind: Any = fault.kind
        place, is_sure = _place(document, fault)
        if kind.name == "type" and is_sure:
            found += [(place, item) for item in kind.types if item in _COERCIBLE]
            if "string" in kind.types:
                strings.add(place)
        elif kind.name in _OF_STRINGS or _wants_strings(kind):
            strings.add(place)
    return [item for item in found if item[0] not in strings]


def find_integer_locations(document: Any, faults: "Sequence[ValidationError]") -> set[Location]:
    """The locations where a number was refused and only an integer is accepted."""
    found_places: set[Location] = set()
    for fault in _flat(faults):
        kind: Any = fault.kind
        if kind.name == "type" and "integer" in kind.types and "number" not in kind.types:
            place, is_sure = _place(document, fault)
            if is_sure:
                found_places.add(place)
    return found_places


def problems(
    schema: JsonSchema, document: Any, faults: "Sequence[ValidationError]"
) -> tuple[Problem, ...]:
    """The faults as readable problems, at most twenty, without duplicates."""
    told: dict[Problem, None] = {}
    for fault in faults[: 2 * MAX_PROBLEMS]:
        told.update(dict.fromkeys(_describe(schema, document, fault)))
    mistyped = {problem.path for problem in told if problem.kind == "type"}
    kept = [item for item in told if item.kind != "value" or item.path not in mistyped]
    return tuple(kept[:MAX_PROBLEMS])


def _place(document: Any, fault: "ValidationError") -> tuple[Location, bool]:
    """The location in the document, and whether it is certain.

    jsonschema-rs takes a name of digits for an index, and leaves out the empty name.
    """
    node, steps, is_sure = document, list[str | int](), True
    for step in fault.instance_path:
        if isinstance(node, dict):
            is_sure = is_sure and "" not in node
            step = str(step)  # noqa: PLW2901 - the same step, as the document has it
        steps.append(step)
        node = look_up(node, (step,))
    return tuple(steps), is_sure and not (isinstance(node, dict) and "" in node)


def _flat(faults: "Sequence[ValidationError]") -> "Iterator[ValidationError]":
    for fault in faults:
        if fault.kind.name in _ALTERNATIVES:
            for branch in _branches(fault):
                yield from _flat(branch)
        else:
            yield fault


def _branches(fault: "ValidationError") -> "list[list[ValidationError]]":
    kind: Any = fault.kind
    return kind.context


def _wants_strings(kind: Any) -> bool:
    if kind.name == "enum":
        return any(isinstance(item, str) for item in kind.options)
    return kind.name == "const" and isinstance(kind.expected_value, str)


def _describe(schema: JsonSchema, document: Any, fault: "ValidationError") -> Iterator[Problem]:
    place, _ = _place(document, fault)
    kind: Any = fault.kind
    match kind.name:
        case "required":
            inner = (*place, kind.property)
            yield missing_argument(inner, description_of(schema, inner))
        case "additionalProperties" | "unevaluatedProperties":
            known = property_names(schema, place)
            for name in kind.unexpected[:MAX_PROBLEMS]:
                yield unknown_argument((*place, name), known)
        case "anyOf" | "oneOf":
            yield from _of_alternatives(schema, document, fault)
        case _:
            value = look_up(document, place)
            message = _message(kind, fault.message, value)
            is_type = kind.name == "type"
            yield Problem(path=path_of(place), message=message, kind="type" if is_type else "value")


def _message(kind: Any, said: str, value: Any) -> str:
    match kind.name:
        case "type":
            expected = " or ".join(
                with_article(item) for item in sorted(kind.types, key=_null_last)
            )
        case "enum":
            options = [_json(item) for item in kind.options[:20]]
            last = options[-1] if options else "nothing here"
            expected = " or ".join(filter(None, (", ".join(options[:-1]), last)))
        case "const":
            expected = _json(kind.expected_value)
        case "falseSchema":
            expected = "nothing here"
        case _:
            return shorten(said)
    return shorten(f"expected {expected}, found {describe_value(value)}")


def _json(value: Any) -> str:
    return to_json(value).decode()


def _of_alternatives(
    schema: JsonSchema, document: Any, fault: "ValidationError"
) -> Iterator[Problem]:
    """The problems of the closest of several failed alternatives, or their expected types."""
    place, _ = _place(document, fault)
    told = [list(problems(schema, document, branch)) for branch in _branches(fault)]
    entered = [branch for branch in told if branch and not _is_elsewhere(branch, place)]
    if entered:
        yield from min(entered, key=len)
        return
    expected = list(
        dict.fromkeys(
            item.message.removeprefix("expected ").partition(", found ")[0]
            for branch in told
            for item in branch[:1]
        )
    )
    value = describe_value(look_up(document, place))
    if expected:
        message = shorten(
            f"expected {' or '.join(sorted(expected, key=_null_last))}, found {value}"
        )
        yield Problem(path=path_of(place), message=message, kind="type")
    else:
        message = f"fits more than one of the alternatives, found {value}"
        yield Problem(path=path_of(place), message=message)


def _is_elsewhere(branch: list[Problem], place: Location) -> bool:
    """Whether the value has another type than this alternative."""
    path = path_of(place)
    return any(item.path == path and item.message.startswith("expected ") for item in branch)


def _null_last(expected: str) -> bool:
    return expected == "null"
