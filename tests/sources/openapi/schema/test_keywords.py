import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.sources.openapi.schema.keywords import Keywords, is_pattern, make_nullable


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "string"}, {"type": "string"}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"type": ["string"]}, {"type": "string"}),
        ({"type": []}, {}),
        ({"type": "int"}, {"type": "integer"}),
        ({"type": "Float"}, {"type": "number"}),
        ({"type": "file"}, {"type": "string"}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
        ({"maximum": 9, "exclusiveMaximum": True}, {"exclusiveMaximum": 9}),
        ({"exclusiveMaximum": 9, "maximum": 8}, {"exclusiveMaximum": 9, "maximum": 8}),
        ({"minimum": "3", "maximum": "4.5"}, {"minimum": 3, "maximum": 4.5}),
        ({"minLength": 1.0, "maxLength": -1}, {"minLength": 1}),
        ({"multipleOf": 0}, {}),
        ({"multipleOf": 0.01}, {"multipleOf": 0.01}),
        ({"uniqueItems": True}, {"uniqueItems": True}),
        ({"enum": ["a", "b", "a"]}, {"enum": ["a", "b"]}),
        ({"enum": [1, True, 1.0]}, {"enum": [1, True, 1.0]}),
        ({"enum": []}, {}),
        ({"enum": "a"}, {}),
        (
            {"type": "string", "enum": [1, 2.5, True]},
            {"type": "string", "enum": ["1", "2.5", "true"]},
        ),
        ({"type": "integer", "enum": ["1", "-2"]}, {"type": "integer", "enum": [1, -2]}),
        (
            {"type": ["integer", "null"], "enum": ["1", None]},
            {"type": ["integer", "null"], "enum": [1, None]},
        ),
        (
            {"type": ["string", "integer"], "enum": ["1", 1]},
            {"type": ["string", "integer"], "enum": ["1", 1]},
        ),
        ({"maxLength": 2**70, "minItems": 10**300}, {}),
        ({"type": "integer", "enum": ["--1", "²"]}, {"type": "integer", "enum": ["--1", "²"]}),
        (
            {"type": "number", "enum": ["1.5", "-2", "x", "1.", "9" * 5_000]},
            {"type": "number", "enum": [1.5, -2, "x", "1.", "9" * 5_000]},
        ),
        (
            {"type": "boolean", "enum": ["true", "false", "on"]},
            {"type": "boolean", "enum": [True, False, "on"]},
        ),
        ({"const": None}, {"const": None}),
        ({"required": True}, {}),
        ({"required": ["a", "a", 3]}, {"required": ["a"]}),
        (
            {"format": "date", "title": "T", "description": " D "},
            {"format": "date", "title": "T", "description": "D"},
        ),
        ({"example": 3}, {"examples": [3]}),
        ({"examples": [4, 5]}, {"examples": [4]}),
        ({"example": "x" * 500}, {}),
        ({"default": [1]}, {"default": [1]}),
        ({"default": "x" * 2000}, {}),
        ({"deprecated": True}, {"deprecated": True}),
        ({"dependentRequired": {"a": ["b"]}}, {"dependentRequired": {"a": ["b"]}}),
        (
            {"dependencies": {"a": ["b"], "c": {"type": "object"}}},
            {"dependentRequired": {"a": ["b"]}},
        ),
        ({"pattern": "^a+$"}, {"pattern": "^a+$"}),
        ({"xml": {}, "externalDocs": {}, "x-any": 1, "discriminator": {}}, {}),
    ],
    ids=str,
)
def test_keywords_are_those_of_2020_12(node: dict[str, object], expected: object) -> None:
    words = Keywords(node)

    assert (words.made, words.lost) == (expected, [])
    jsonschema_rs.Draft202012Validator(words.made)


@pytest.mark.parametrize(
    ("node", "lost"),
    [
        ({"maximum": 10**400}, "maximum"),
        ({"maxLength": -(10**400)}, "maxLength"),
        ({"minimum": float("nan")}, "minimum"),
        ({"type": "colour"}, 'type "colour"'),
        ({"type": ["string", 3]}, "type 3"),
        ({"minimum": "low"}, "minimum"),
        ({"maxItems": [3]}, "maxItems"),
        ({"pattern": "^(a"}, 'pattern "^(a"'),
        ({"pattern": "[\\w-.]"}, 'pattern "[\\\\w-.]"'),
    ],
    ids=str,
)
def test_what_is_broken_is_left_out_and_named(node: dict[str, object], lost: str) -> None:
    words = Keywords(node)

    assert (words.made, words.lost) == ({}, [lost])


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, {"type": ["string", "null"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"enum": ["a"]}, {"enum": ["a", None]}),
        (
            {"type": "string", "enum": ["a", None]},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        ({"$ref": "#/x"}, {"anyOf": [{"$ref": "#/x"}, {"type": "null"}]}),
        ({"allOf": [{}]}, {"anyOf": [{"allOf": [{}]}, {"type": "null"}]}),
        (
            {"const": 1, "type": "integer"},
            {"anyOf": [{"const": 1, "type": "integer"}, {"type": "null"}]},
        ),
        ({"description": "any"}, {"description": "any"}),
    ],
    ids=str,
)
def test_what_is_nullable_takes_null(schema: dict[str, object], expected: object) -> None:
    made = make_nullable(schema)

    assert made == expected


def test_both_spellings_of_nullable_are_read() -> None:
    assert Keywords({"nullable": True}).nullable
    assert Keywords({"x-nullable": True}).nullable
    assert not Keywords({"nullable": "yes"}).nullable


def test_a_pattern_is_one_that_the_validator_takes() -> None:
    assert is_pattern(r"^\p{L}+$")
    assert not is_pattern("*")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
NAMES = (
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxItems",
    "uniqueItems",
    "pattern",
    "format",
    "title",
    "description",
    "default",
    "example",
    "examples",
    "required",
    "dependencies",
    "nullable",
)


@pytest.mark.slow
@pytest.mark.timeout(60)
@given(st.dictionaries(st.sampled_from(NAMES), json_values, max_size=6))
def test_whatever_stands_there_the_result_is_a_valid_schema(node: dict[str, object]) -> None:
    jsonschema_rs.Draft202012Validator(make_nullable(Keywords(node).made))
