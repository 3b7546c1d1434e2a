"""What is known of all values of a schema."""

import math
from typing import Any

import pytest

from pegboard.schemas.document import Document
from pegboard.schemas.type_facts import BROKEN, TYPES, WHOLE, Facts, Values


def values(schema: Any, *, closed: bool = False) -> Values:
    document = Document(schema, closed=closed)
    return Values(document=document, nodes=document.nodes(schema))


def facts(schema: Any) -> Facts:
    return Facts(values(schema))


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({}, TYPES),
        ({"type": "number"}, {WHOLE, BROKEN}),
        ({"type": ["integer", "null"], "allOf": [{"type": "number"}]}, {WHOLE}),
        ({"type": "string", "allOf": [{"type": "null"}]}, set()),
    ],
    ids=["any", "numbers", "both", "none"],
)
def test_types_are_those_that_every_part_lets_through(schema: Any, types: set[str]) -> None:
    assert facts(schema).types == types


@pytest.mark.parametrize(
    ("schema", "listed"),
    [
        ({"enum": [1, "a", None], "type": ["string", "null"]}, ["a", None]),
        ({"const": 5, "maximum": 3}, []),
        ({"type": "boolean"}, [True, False]),
        ({"type": "string"}, None),
    ],
    ids=["of a type", "excluded", "booleans", "too many"],
)
def test_few_values_are_listed(schema: Any, listed: Any) -> None:
    assert facts(schema).listed == listed


@pytest.mark.parametrize(
    ("schema", "lower", "upper"),
    [
        ({"type": "number"}, (-math.inf, False), (math.inf, False)),
        (
            {"type": "number", "minimum": 1, "exclusiveMinimum": 1, "exclusiveMaximum": 2.5},
            (1, True),
            (2.5, True),
        ),
        ({"type": "integer", "exclusiveMinimum": 1, "maximum": 2.5}, (2, False), (2, False)),
        ({"type": "integer", "minimum": 1.5, "exclusiveMaximum": 4}, (2, False), (3, False)),
    ],
    ids=["none", "outside", "whole numbers", "whole numbers inside"],
)
def test_bounds_are_the_narrowest(schema: Any, lower: Any, upper: Any) -> None:
    found = facts({**schema, "allOf": [{"minimum": -9}] if lower[0] > 0 else []} | schema)

    assert (found.lower, found.upper) == (lower, upper)


def test_alternatives_are_taken_one_by_one() -> None:
    both = values({"anyOf": [{"const": 1}, {"const": 2}], "oneOf": [{"const": 2}, {"const": 3}]})

    pieces = [piece for first in both.alternatives() for piece in first.alternatives()]

    assert [Facts(piece).listed for piece in pieces] == [[], [], [2], []]
    assert pieces[0].alternatives() == []


def test_values_are_told_apart_by_type() -> None:
    several = values({"type": ["string", "integer", "null"]})

    kinds = [Facts(piece).types for piece in several.by_type(Facts(several).types)]

    assert kinds == [{"null"}, {WHOLE}, {"string"}]
    assert several.by_type(frozenset({WHOLE, BROKEN})) == []


def test_objects_have_as_many_properties_as_are_named() -> None:
    named = facts({"properties": {"a": {}, "b": {}}, "required": ["a"], "maxProperties": 9})
    only = facts({"properties": {"a": {}}, "additionalProperties": False})

    assert (named.least_properties, named.most_properties) == (1, 9)
    assert only.most_properties == 1
