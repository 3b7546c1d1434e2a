"""Pydantic's core schemas, made as strict as the JSON Schema that is printed of them."""

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError
from tests.tools.shapes import Booking, Built, Open, OpenTyped, Price, Word

from pegboard.tools.core_schema import MEMBER, enforcement


class Pair(NamedTuple):
    left: int


def _of(hint: Any) -> Any:
    return enforcement(TypeAdapter(hint).core_schema)


def _faults(hint: Any, text: str) -> list[tuple[Any, str]]:
    with pytest.raises(ValidationError) as caught:
        _of(hint).validate_json(text)
    return [(fault["loc"], fault["type"]) for fault in caught.value.errors()]


@pytest.mark.parametrize(
    "hint",
    [
        int,
        str,
        float,
        date,
        list[int],
        Price,
        Word,
        Literal["a", 1],
        OpenTyped,
        dict[str, date],
        bool | None,
    ],
    ids=str,
)
def test_most_types_need_no_second_look(hint: Any) -> None:
    assert _of(hint).is_suspicious is None


@pytest.mark.parametrize(
    ("hint", "text", "suspicious"),
    [
        (Any, '"a"', False),
        (Any, "NaN", True),
        (Any, "[1e400]", True),
        (list, "[1]", False),
        (dict, '{"a": Infinity}', True),
        (Open, '{"inner": {"amount": 1}, "a": NaN}', True),
        (Annotated[str, Field(pattern=r"\d")], '"a"', False),
        (Annotated[str, Field(pattern=r"\d")], '"\u0665"', True),
        (Annotated[str, Field(pattern=r"\d")], '"\\u0665"', True),
        (Annotated[str, Field(pattern=r"(?i)a")], '"\u212a"', True),
        (Annotated[int, BeforeValidator(int)], "1", True),
        (Booking, "{}", True),
        (Built, "{}", True),
        (Pair, "[1]", True),
        (Callable[[], int], "1", True),
        (tuple[Any, Annotated[str, Field(pattern=r"\w")]], '[1, "a"]', False),
        (tuple[Any, Annotated[str, Field(pattern=r"\w")]], '[NaN, "a"]', True),
        (tuple[Any, Annotated[str, Field(pattern=r"\w")]], '[1, "\u00e9"]', True),
    ],
    ids=str,
)
def test_what_pydantic_may_read_too_widely_is_looked_at_twice(
    hint: Any, text: str, *, suspicious: bool
) -> None:
    is_suspicious = _of(hint).is_suspicious

    assert is_suspicious is not None
    assert is_suspicious(text) is suspicious
    assert is_suspicious(text.encode()) is suspicious


def test_members_of_unions_are_marked_in_the_places_of_faults() -> None:
    assert _faults(int | list[int], '["a"]') == [
        ((f"{MEMBER}0",), "int_type"),
        ((f"{MEMBER}1", 0), "int_type"),
    ]


def test_the_given_schema_is_left_alone() -> None:
    adapter = TypeAdapter(Price)

    enforcement(adapter.core_schema)

    assert adapter.validate_json('{"amount": "1", "more": 2}') == Price(amount=1)


def test_the_model_itself_is_left_alone() -> None:
    enforcement(TypeAdapter(list[Price]).core_schema)

    assert Price.model_validate({"amount": "1", "more": 2}) == Price(amount=1)
