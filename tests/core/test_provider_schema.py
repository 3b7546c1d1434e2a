from typing import Any

import pytest

from pegboard.core.provider_schema import provider_schema

A = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
B = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b", "a"]}


def test_a_plain_object_is_kept_as_it_is() -> None:
    assert provider_schema(A) is A


@pytest.mark.parametrize(
    ("schema", "names", "required"),
    [
        pytest.param({}, "", [], id="anything"),
        pytest.param({"type": "object"}, "", [], id="an object without properties"),
        pytest.param({"allOf": [A, B]}, "b a", ["a", "b"], id="all of"),
        pytest.param({"anyOf": [A, B]}, "b a", ["a"], id="any of: what all choices require"),
        pytest.param({"oneOf": [A, {"type": "object"}]}, "a", [], id="one of"),
        pytest.param({**A, "not": {"required": ["c"]}}, "a", ["a"], id="not"),
        pytest.param({**A, "enum": [{"a": "x"}]}, "a", ["a"], id="enum"),
        pytest.param({**A, "if": {}, "then": B, "else": True}, "b a", ["a"], id="if"),
        pytest.param({"$ref": "#/$defs/A", "$defs": {"A": A}}, "a", ["a"], id="a reference"),
        pytest.param({"$ref": "#/$defs/a~1b", "$defs": {"a/b": A}}, "a", ["a"], id="escaped"),
        pytest.param({"$ref": "#/$defs/gone"}, "", [], id="a reference to nothing"),
        pytest.param({"$ref": "https://example.com/a"}, "", [], id="a reference elsewhere"),
        pytest.param({"$ref": "#/$defs/A", "$defs": {"A": True}}, "", [], id="to anything"),
        pytest.param({"anyOf": [True, {"allOf": [A]}]}, "a", ["a"], id="nested"),
        pytest.param({"allOf": [{"$ref": "#"}, A]}, "a", ["a"], id="to the whole"),
    ],
)
def test_another_schema_becomes_an_object_with_all_its_arguments(
    schema: dict[str, Any], names: str, required: list[str]
) -> None:
    plain = provider_schema(schema)

    assert plain["type"] == "object"
    assert list(plain["properties"]) == names.split()
    assert plain.get("required", []) == required
    assert not plain.keys() & {"allOf", "anyOf", "oneOf", "not", "enum", "if", "then", "$ref"}


def test_what_refers_to_itself_without_end_has_an_end() -> None:
    schema = {"$ref": "#/$defs/A", "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}, A]}}}

    assert list(provider_schema(schema)["properties"]) == ["a"]


def test_definitions_and_texts_are_kept() -> None:
    schema = {"anyOf": [A], "$defs": {"x": {}}, "description": "d", "unevaluatedProperties": False}

    assert provider_schema(schema) == {
        "$defs": {"x": {}},
        "description": "d",
        "type": "object",
        "properties": A["properties"],
        "required": ["a"],
    }
