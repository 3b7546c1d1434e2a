from typing import Any

import pytest

from pegboard.schemas.subschema import SubSchema, schema_at

TEXT = {"type": "string"}
DEFS = {"item": {"type": "object", "properties": {"id": TEXT}}, "loop": {"$ref": "#/$defs/loop"}}
PAGE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": TEXT,
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
        "pair": {"type": "array", "prefixItems": [TEXT, {"type": "integer"}], "items": False},
        "either": {"anyOf": [{"type": "object", "properties": {"a": TEXT}}, {"type": "null"}]},
        "both": {
            "oneOf": [{"properties": {"a": TEXT}}, {"properties": {"a": {"type": "integer"}}}]
        },
        "mixed": {"anyOf": [{"properties": {"a": TEXT}}, {}]},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        "open": {"type": "object", "additionalProperties": True},
        "closed": {"type": "object", "additionalProperties": False},
        "wrapped": {"allOf": [{"$ref": "#/$defs/item"}]},
        "all": {"allOf": [{}, {}]},
        "any": True,
        "loop": {"$ref": "#/$defs/loop"},
        "nowhere": {"$ref": "#/$defs/none"},
        "outside": {"$ref": "https://example.com/x"},
        "patterns": {"patternProperties": {"^x": TEXT}},
        "types": {"type": ["object", "null"], "properties": {"a": TEXT}},
        "nested": {
            "anyOf": [
                {"properties": {"x": {"properties": {"y": TEXT}}}},
                {"properties": {"x": {"type": "null"}}},
            ]
        },
    },
    "$defs": DEFS,
}


@pytest.mark.parametrize(
    ("keys", "schema"),
    [
        (("name",), TEXT),
        (("items", 3, "id"), TEXT),
        (("pair", 1), {"type": "integer"}),
        (("either", "a"), TEXT),
        (("map", "anything"), {"type": "integer"}),
        (("wrapped", "id"), TEXT),
        (("types", "a"), TEXT),
        (("nested", "x", "y"), {"anyOf": [TEXT]}),
        (("both", "a"), {"anyOf": [TEXT, {"type": "integer"}]}),
    ],
)
def test_a_schema_says_what_is_at_a_place(keys: tuple[Any, ...], schema: Any) -> None:
    seen = schema_at(PAGE, keys)

    assert seen.schema is not None
    assert {key: value for key, value in seen.schema.items() if key != "$defs"} == schema
    assert seen.schema["$defs"] == DEFS


@pytest.mark.parametrize(
    "keys",
    [
        ("any",),
        ("any", "x"),
        ("open", "x"),
        ("mixed", "a"),
        ("all", "x"),
        ("loop", "x"),
        ("nowhere", "x"),
        ("outside", "x"),
        ("patterns", "xx"),
    ],
)
def test_where_a_schema_says_nothing_nothing_is_known(keys: tuple[Any, ...]) -> None:
    assert schema_at(PAGE, keys) == SubSchema()


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        (("nme",), "it has no 'nme', only name, items"),
        (("name", "x"), "it is of type string, not object"),
        (("name", 0), "it is of type string, not array"),
        (("pair", 2), "the list has no item 2"),
        (("closed", "x"), "it has no 'x', only nothing"),
        (("items", "first"), "it is of type array, not object"),
        (("types", 0), "it is of type object or null, not array"),
        (("nested", "x", "z"), "it has no 'z', only y"),
    ],
)
def test_a_place_that_cannot_be_there_says_why(keys: tuple[Any, ...], problem: str) -> None:
    assert schema_at(PAGE, keys).problem.startswith(problem)


def test_without_a_schema_nothing_is_known() -> None:
    assert schema_at(None, ("x",)) == SubSchema()
    assert schema_at(PAGE, ()).schema is PAGE
