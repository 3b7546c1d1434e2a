"""What jsonschema-rs finds wrong: where it is, what would mend it, and how it is told."""

from typing import Any

import jsonschema_rs
import pytest

from pegboard.schemas.jsonschema_errors import find_expected_types, problems


def _found(schema: Any, document: Any) -> Any:
    return list(jsonschema_rs.validator_for(schema).iter_errors(document))


@pytest.mark.parametrize(
    ("schema", "document", "wanted"),
    [
        ({"type": "integer"}, "5", [((), "integer")]),
        ({"items": {"type": ["null", "number"]}}, ["5"], [((0,), "number")]),
        (
            {"anyOf": [{"type": "integer"}, {"type": "array"}]},
            "5",
            [((), "integer"), ((), "array")],
        ),
        ({"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 0}]}, "5", []),
        ({"anyOf": [{"type": "integer"}, {"enum": ["a"]}]}, "5", []),
        ({"anyOf": [{"type": "integer"}, {"const": "a"}]}, "5", []),
        ({"anyOf": [{"type": "integer"}, {"const": 5}]}, "5", [((), "integer")]),
        ({"properties": {"": {"type": "integer"}}}, {"": "5"}, []),
        ({"additionalProperties": {"type": "integer"}}, {"0": "5"}, [(("0",), "integer")]),
        ({"minLength": 5}, "a", []),
        ({"type": ["string", "null"]}, 5, []),
    ],
    ids=str,
)
def test_what_would_mend_a_fault_is_told_by_its_type(
    schema: Any, document: Any, wanted: Any
) -> None:
    assert find_expected_types(document, _found(schema, document)) == wanted


@pytest.mark.parametrize(
    ("schema", "document", "lines"),
    [
        ({"minItems": 2, "uniqueItems": True}, [1], ["[1] has less than 2 items"]),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, ["b: missing, required"]),
        ({"not": {}}, 5, ["{} is not allowed for 5"]),
        (
            {"anyOf": [{"anyOf": [{"type": "integer"}]}, {"type": "null"}]},
            "a",
            ['expected an integer or null, found "a" (string)'],
        ),
        (
            {
                "anyOf": [
                    {"type": "object", "required": ["a", "b"]},
                    {"type": "object", "required": ["c"]},
                ]
            },
            {},
            ["c: missing, required"],
        ),
        ({"anyOf": [{"minimum": 5}, {"type": "null"}]}, 1, ["1 is less than the minimum of 5"]),
        ({"enum": [5]}, 6, ["expected 5, found 6 (number)"]),
        ({"enum": []}, 6, ["expected nothing here, found 6 (number)"]),
    ],
    ids=str,
)
def test_a_fault_is_told_in_words(schema: Any, document: Any, lines: list[str]) -> None:
    assert [str(item) for item in problems(schema, document, _found(schema, document))] == lines


def test_the_same_is_told_once() -> None:
    schema = {"allOf": [{"type": "integer"}, {"type": "integer"}]}

    assert len(problems(schema, "a", _found(schema, "a"))) == 1
