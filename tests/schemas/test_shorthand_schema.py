from typing import Any

import jsonschema_rs
import pytest

from pegboard.errors import ConfigError
from pegboard.schemas.shorthand_schema import schema_of


@pytest.mark.parametrize(
    ("given", "schema"),
    [
        pytest.param(
            {"query": "string"},
            {
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"],
            },
            id="the RFC's web search",
        ),
        pytest.param(
            {"results": "list"},
            {
                "type": "object",
                "properties": {"results": {"type": "array"}},
                "required": ["results"],
            },
            id="the RFC's results",
        ),
        pytest.param(
            {"type": "string"},
            {
                "type": "object",
                "properties": {"type": {"type": "string"}},
                "required": ["type"],
            },
            id="a parameter called type",
        ),
        pytest.param(
            {"items": ["integer"], "address": {"city": "str"}},
            {
                "type": "object",
                "properties": {
                    "items": {"type": "array", "items": {"type": "integer"}},
                    "address": {
                        "type": "object",
                        "properties": {"city": {"type": "string"}},
                        "required": ["city"],
                    },
                },
                "required": ["items", "address"],
            },
            id="nested",
        ),
        pytest.param(
            {"count": {"type": "integer", "minimum": 1}},
            {
                "type": "object",
                "properties": {"count": {"type": "integer", "minimum": 1}},
                "required": ["count"],
            },
            id="a schema for one parameter",
        ),
        pytest.param({}, {"type": "object", "properties": {}, "required": []}, id="nothing"),
    ],
)
def test_shorthand_becomes_json_schema(given: dict[str, Any], schema: dict[str, Any]) -> None:
    assert schema_of(given, "input_schema") == schema
    jsonschema_rs.validator_for(schema)


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "object", "properties": {"a": {"type": "string"}}}, id="object"),
        pytest.param({"type": "object", "additionalProperties": {"type": "string"}}, id="map"),
        pytest.param({"anyOf": [{"type": "object"}]}, id="put together"),
        pytest.param({"type": "object"}, id="any object"),
    ],
)
def test_json_schema_passes_through(schema: dict[str, Any]) -> None:
    assert schema_of(schema, "input_schema") == schema


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param({"a": "strng"}, "input_schema.a: 'strng' is not a type", id="unknown type"),
        pytest.param({"a": 5}, "input_schema.a: expected a type", id="a number"),
        pytest.param({"a": {"b": "nope"}}, "input_schema.a.b: 'nope'", id="nested"),
        pytest.param({"a": ["string", "int"]}, "input_schema.a: expected", id="two items"),
    ],
)
def test_what_is_neither_is_refused_with_its_place(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        schema_of(given, "input_schema")
