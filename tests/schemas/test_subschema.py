"""What a schema says of a place within values."""

from typing import Any

import pytest

from pegboard.schemas.compatibility import schema_fits
from pegboard.schemas.subschema import SchemaAtPath, schema_at

TEXT, WHOLE, NULL = {"type": "string"}, {"type": "integer"}, {"type": "null"}
PAGE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": TEXT,
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}, "minItems": 1},
        "next": {"anyOf": [{"$ref": "#/$defs/item"}, NULL]},
    },
    "required": ["title", "items"],
    "$defs": {
        "item": {
            "type": "object",
            "properties": {"id": WHOLE, "inner": {"$ref": "#/$defs/item"}},
            "required": ["id"],
        }
    },
}


@pytest.mark.parametrize(
    ("path", "wanted", "is_always_there"),
    [
        (["title"], TEXT, True),
        (["items", 0, "id"], WHOLE, True),
        (["items", 1, "id"], WHOLE, False),
        (["items", 0, "inner", "inner", "id"], WHOLE, False),
        (["next", "id"], WHOLE, False),
        ([], {"type": "object"}, True),
    ],
    ids=["a property", "in a list", "perhaps in a list", "recursive", "of an alternative", "all"],
)
def test_a_place_has_a_schema_of_its_own(
    path: list[str | int], wanted: Any, is_always_there: bool
) -> None:
    part = schema_at(PAGE, path)

    assert schema_fits(part.schema, wanted).is_certain
    assert part.is_always_there is is_always_there


def test_a_plain_part_is_shown_as_it_is() -> None:
    assert schema_at({"properties": {"a": TEXT}}, ["a"]).schema == TEXT


def test_alternatives_come_together() -> None:
    schema = {
        "oneOf": [{"type": "object", "properties": {"a": kind}} for kind in (TEXT, WHOLE)],
    }

    part = schema_at(schema, ["a"])

    assert part.schema == {"anyOf": [TEXT, WHOLE]}


@pytest.mark.parametrize(
    ("schema", "path", "closed"),
    [
        (TEXT, ["a"], False),
        ({"properties": {"a": False}}, ["a"], False),
        ({"properties": {"a": TEXT}}, ["b"], True),
        ({"type": "object", "allOf": [NULL]}, ["b"], True),
    ],
    ids=["of a text", "excluded", "not named", "of nothing"],
)
def test_where_nothing_can_be_the_schema_is_false(
    schema: Any, path: list[str | int], closed: bool
) -> None:
    assert schema_at(schema, path, closed=closed) == SchemaAtPath(
        schema=False, is_always_there=False
    )


@pytest.mark.parametrize(
    "schema",
    [{}, True, {"$schema": "urn:unknown"}, {"properties": {"a": {"$ref": "#"}, "b": TEXT}}],
    ids=["anything", "true", "another language", "a reference to the whole"],
)
def test_what_is_not_known_may_be_anything(schema: Any) -> None:
    assert schema_at(schema, ["b"]) == SchemaAtPath(schema={}, is_always_there=False)


def test_very_many_alternatives_are_left_together() -> None:
    many = {
        "allOf": [{"anyOf": [{"minProperties": n}, {}]} for n in range(12)],
        "properties": {"a": TEXT},
    }

    assert schema_fits(schema_at(many, ["a"]).schema, TEXT).is_certain
