"""Pydantic's faults: where they are, what would mend them, and how they are told."""

from typing import Any

import pytest

from pegboard.tools.core_schema import MEMBER
from pegboard.tools.pydantic_errors import find_expected_types, location_of, problems


def _fault(kind: str, *loc: Any, **more: Any) -> Any:
    return {"type": kind, "loc": loc, "msg": "Input should be odd", "input": "5", **more}


@pytest.mark.parametrize(
    ("loc", "place"),
    [
        ((), ()),
        (("a", 1), ("a", 1)),
        (("a", f"{MEMBER}0"), ("a",)),
        (("a", f"{MEMBER}1", "b", 2), ("a", "b", 2)),
        (("a", "cat", MEMBER, "cat"), ("a", "cat")),
        (("a", f"{MEMBER}0", "cat", MEMBER), ("a",)),
        (("a", "5", "[key]"), ("a", "5")),
        (("a", "b", "[key]"), ("a", "b", "[key]")),
        (("[key]",), ("[key]",)),
        (("a", "[key]", "b"), ("a", "[key]", "b")),
        (("\0", "a"), ("\0", "a")),
    ],
    ids=lambda item: repr(item).replace(repr(MEMBER)[1:-1], "MEMBER"),
)
def test_a_place_has_no_names_of_members(loc: Any, place: Any) -> None:
    assert location_of(_fault("int_type", *loc)) == place


@pytest.mark.parametrize(
    ("faults", "wanted"),
    [
        pytest.param([_fault("int_type", "a")], [(("a",), "integer")], id="a type"),
        pytest.param(
            [_fault("int_type", "a", f"{MEMBER}0"), _fault("list_type", "a", f"{MEMBER}1")],
            [(("a",), "integer"), (("a",), "array")],
            id="two members",
        ),
        pytest.param(
            [_fault("int_type", "a", f"{MEMBER}0"), _fault("string_too_long", "a", f"{MEMBER}1")],
            [],
            id="a member takes strings",
        ),
        pytest.param(
            [_fault("int_type", "a"), _fault("none_required", "a")],
            [(("a",), "integer")],
            id="null takes none",
        ),
        pytest.param(
            [_fault("literal_error", "a", ctx={"expected": "1, -2 or 3"})],
            [(("a",), "integer")],
            id="words that are integers",
        ),
        pytest.param(
            [_fault("enum", "a", ctx={"expected": "True or False"})],
            [(("a",), "boolean")],
            id="words that are booleans",
        ),
        pytest.param(
            [_fault("literal_error", "a", ctx={"expected": "1 or 'a'"})],
            [],
            id="words of both kinds",
        ),
        pytest.param([_fault("missing", "a")], [], id="nothing there"),
    ],
)
def test_what_would_mend_a_fault_is_told_by_its_type(faults: Any, wanted: Any) -> None:
    assert find_expected_types(faults) == wanted


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (
            "Input should be a valid date, too short",
            'expected a valid date, too short, found "5" (string)',
        ),
        (
            "Input should be a valid date or datetime, input is too short",
            'expected a date such as 2027-01-31, input is too short, found "5" (string)',
        ),
        ("Input should be greater than 5", 'expected a number greater than 5, found "5" (string)'),
        ("Value error, Not\nagain", 'not again, found "5" (string)'),
        (
            "Tuple should have at least 1 item after validation, not 0",
            'expected at least 1 item, found "5" (string)',
        ),
        ("URL is odd", 'URL is odd, found "5" (string)'),
    ],
)
def test_a_message_is_made_of_pydantics(message: str, line: str) -> None:
    assert [str(item) for item in problems({}, [_fault("value_error", msg=message)])] == [line]


def test_faults_of_one_place_are_one_line_and_null_comes_last() -> None:
    faults = [
        _fault("none_required", "a", f"{MEMBER}0"),
        _fault("int_type", "a", f"{MEMBER}1"),
        _fault("list_type", "a", f"{MEMBER}2"),
    ]

    assert [str(item) for item in problems({}, faults)] == [
        'a: expected an integer or an array or null, found "5" (string)'
    ]
