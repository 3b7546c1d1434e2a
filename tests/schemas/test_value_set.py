"""What is certain about all values of a schema."""

from typing import Any

import pytest

from pegboard.schemas.document import SchemaDocument
from pegboard.schemas.value_set import FRACTION, TYPES, ValueSet


def values(schema: Any, *, closed: bool = False) -> ValueSet:
    return ValueSet.of(SchemaDocument(schema, closed=closed), schema)


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({}, TYPES),
        ({"type": "number"}, {"integer", FRACTION}),
        ({"type": ["integer", "null"], "allOf": [{"type": "number"}]}, {"integer"}),
        ({"type": "string", "allOf": [{"type": "null"}]}, set()),
    ],
    ids=["any", "numbers", "both", "none"],
)
def test_types_are_those_that_every_part_lets_through(schema: Any, types: set[str]) -> None:
    assert values(schema).types == types


@pytest.mark.parametrize(
    ("schema", "listed"),
    [
        ({"enum": [1, "a", None], "type": ["string", "null"]}, ["a", None]),
        ({"const": 5, "maximum": 3}, []),
        ({"type": "string"}, None),
    ],
    ids=["of a type", "excluded", "too many"],
)
def test_few_values_are_listed(schema: Any, listed: Any) -> None:
    assert values(schema).listed == listed


def test_alternatives_are_taken_one_by_one() -> None:
    both = values({"anyOf": [{"const": 1}, {"const": 2}], "oneOf": [{"const": 2}, {"const": 3}]})

    pieces = [piece for first in both.alternatives() for piece in first.alternatives()]

    assert [piece.listed for piece in pieces] == [[], [], [2], []]
    assert pieces[0].alternatives() == []


def test_values_are_split_by_type() -> None:
    several = values({"type": ["string", "integer", "null"]})

    kinds = [piece.types for piece in several.split_by_type()]

    assert kinds == [{"null"}, {"integer"}, {"string"}]
    assert values({"type": "number"}).split_by_type() == []


def test_an_object_taken_as_closed_has_no_other_properties() -> None:
    named = values({"properties": {"a": {}}}, closed=True)

    assert named.others.is_empty
    assert named.get_property("b").is_empty
    assert not named.get_property("a").is_empty
