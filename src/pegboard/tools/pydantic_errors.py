"""Errors of pydantic, as expected types for coercion and as readable problems."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from pydantic_core import ErrorDetails

from pegboard.core.tool import JsonSchema
from pegboard.errors import Problem
from pegboard.schemas.coercion import ExpectedType, JsonType
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
from pegboard.tools.core_schema import MEMBER

_WANTED: Mapping[str, JsonType] = {
    "int_type": "integer",
    "int_from_float": "integer",
    "float_type": "number",
    "bool_type": "boolean",
    "list_type": "array",
    "tuple_type": "array",
    "set_type": "array",
    "frozen_set_type": "array",
    "iterable_type": "array",
    "deque_type": "array",
    "dict_type": "object",
    "mapping_type": "object",
    "model_type": "object",
    "model_attributes_type": "object",
    "dataclass_type": "object",
    "dataclass_exact_type": "object",
}
_NO_STRINGS = frozenset({*_WANTED, "none_required", "finite_number", "decimal_type"})
_OF_TYPE: Mapping[str, str] = {
    **_WANTED,
    **dict.fromkeys(("string_type", "bytes_type", "uuid_type", "url_type", "json_type"), "string"),
    "none_required": "null",
}
_WORDS: Mapping[str, str] = {
    "Input should be a valid date or datetime": "expected a date such as 2027-01-31",
    "Input should be a valid datetime or date": "expected a time such as 2027-01-31T09:30:00Z",
    "Input should be in a valid time format": "expected a time such as 09:30",
    "Input should be a valid timedelta": "expected a duration such as PT1H30M",
    "Input should be greater": "expected a number greater",
    "Input should be less": "expected a number less",
    "Decimal input should be an integer, float, string or Decimal object": "expected a number",
    "Input should be ": "expected ",
    "Value error, ": "",
    "Assertion failed, ": "",
}
_PYTHON = {"True": "true", "False": "false", "None": "null"}
_LENGTH = re.compile(r"^\w+ should have (at (?:least|most) .+) after validation, not .+$")
_INTEGERS = re.compile(r"-?[0-9]+(?:(?:, | or )-?[0-9]+)*")


def find_expected_types(details: Sequence[ErrorDetails]) -> list[ExpectedType]:
    """The expected type at each faulty location, except where strings are accepted."""
    made: list[ExpectedType] = []
    strings: set[Location] = set()
    for detail in details:
        place = location_of(detail)
        wanted = _json_type_for(detail)
        if wanted is not None:
            made.append((place, wanted))
        elif detail["type"] not in _NO_STRINGS:
            strings.add(place)
    return [item for item in made if item[0] not in strings]


def problems(schema: JsonSchema, details: Sequence[ErrorDetails]) -> tuple[Problem, ...]:
    """The faults as readable problems, one per location, at most twenty."""
    grouped: dict[Location, list[ErrorDetails]] = {}
    for detail in _select_member(details, 0):
        grouped.setdefault(location_of(detail), []).append(detail)
    groups = list(grouped.items())[:MAX_PROBLEMS]
    return tuple(_describe(schema, place, group) for place, group in groups)


def location_of(detail: ErrorDetails) -> Location:
    """Where in the document: pydantic's location without the names of union members."""
    steps = detail["loc"]
    if steps[-1:] == ("[key]",) and steps[-2:-1] == (detail["input"],):
        steps = steps[:-1]  # the fault is in the name itself
    ahead = (*steps[1:], "")[: len(steps)]
    return tuple(
        step
        for step, following in zip(steps, ahead, strict=True)
        if not _is_member(step) and following != MEMBER
    )


def _json_type_for(detail: ErrorDetails) -> JsonType | None:
    if detail["type"] in {"literal_error", "enum"}:
        expected = str(detail.get("ctx", {}).get("expected", ""))
        if _INTEGERS.fullmatch(expected):
            return "integer"
        return "boolean" if expected in {"True", "False", "True or False"} else None
    return _WANTED.get(detail["type"])


def _is_member(step: str | int) -> bool:
    return isinstance(step, str) and step.startswith(MEMBER)


def _select_member(details: Sequence[ErrorDetails], depth: int) -> list[ErrorDetails]:
    """Of the members of a union, the one that came closest; all, when none came in."""
    kept: list[ErrorDetails] = []
    members: list[list[ErrorDetails]] = []
    for step, group in groupby(details, key=lambda detail: detail["loc"][depth : depth + 1]):
        inner = list(group)
        if not step:
            kept += inner
        elif _is_member(step[0]):
            members.append(_select_member(inner, depth + 1))
        else:
            kept += _select_member(inner, depth + 1)
    entered = [member for member in members if not _is_elsewhere(member, depth + 1)]
    if entered:
        return kept + min(entered, key=len)
    return kept + [detail for member in members for detail in member]


def _is_elsewhere(member: Sequence[ErrorDetails], depth: int) -> bool:
    """Whether the value has another type than this member."""
    first = member[0]
    is_type = first["type"] in _OF_TYPE or first["type"] in {"literal_error", "enum"}
    return len(first["loc"]) == depth and is_type


def _describe(schema: JsonSchema, place: Location, group: Sequence[ErrorDetails]) -> Problem:
    first = group[0]
    match first["type"]:
        case "missing" | "missing_argument":
            return missing_argument(place, description_of(schema, place))
        case "extra_forbidden" | "unexpected_keyword_argument":
            return unknown_argument(place, property_names(schema, place[:-1]))
        case kind:
            expected = sorted(
                dict.fromkeys(map(describe_fault, group)), key=lambda said: said == "expected null"
            )
            wanted = " or ".join(
                [expected[0], *(said.removeprefix("expected ") for said in expected[1:])]
            )
            is_type = kind in _OF_TYPE or kind.endswith("_type")
            return Problem(
                path=path_of(place),
                message=shorten(f"{wanted}, found {describe_value(first['input'])}"),
                kind="type" if is_type else "value",
            )


def describe_fault(detail: ErrorDetails) -> str:
    """The expected value as text."""
    json_type = _OF_TYPE.get(detail["type"])
    if json_type is not None:
        return f"expected {with_article(json_type)}"
    message = " ".join(detail["msg"].split())
    message = _LENGTH.sub(r"expected \1", message)
    for said, instead in _WORDS.items():
        message = message.replace(said, instead)
    if detail["type"] in {"literal_error", "enum"}:
        message = re.sub(r"\b(True|False|None)\b", lambda match: _PYTHON[match[0]], message)
    return message[:1].lower() + message[1:] if message[1:2].islower() else message
