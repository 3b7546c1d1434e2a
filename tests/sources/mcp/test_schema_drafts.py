"""Schemas of any draft, as the board's one draft; broken ones are told."""

from typing import Any

import pytest

from pegboard.errors import SourceUnavailable
from pegboard.sources.mcp.schema_drafts import check_schema, modern

SEVEN = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({"type": "object"}, {"type": "object"}),
        (
            {"items": [{"type": "string"}], "additionalItems": {"type": "integer"}},
            {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
        ),
        (
            {"items": {"type": "string"}, "additionalItems": False},
            {"items": {"type": "string"}},
        ),
        (
            {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
            {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}},
        ),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}),
        (
            {"properties": {"a": {"items": [{}]}}, "anyOf": [{"items": [{}]}], "not": {}},
            {
                "properties": {"a": {"prefixItems": [{}]}},
                "anyOf": [{"prefixItems": [{}]}],
                "not": {},
            },
        ),
        (
            {"definitions": {"a": {"$schema": SEVEN, "type": "string"}}, "else": True},
            {"definitions": {"a": {"type": "string"}}, "else": True},
        ),
    ],
    ids=["plain", "tuple", "rest", "dependencies", "draft4", "draft4-off", "nested", "definitions"],
)
def test_what_older_drafts_call_otherwise_is_renamed(
    older: dict[str, Any], newer: dict[str, Any]
) -> None:
    assert modern({"$schema": SEVEN, **older}) == newer


def test_a_schema_of_the_boards_draft_is_left_alone() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"a": {"type": "string"}},
        "properties": {"x": {"$ref": "#/$defs/a"}, "$ref": {"type": "string"}},
    }

    assert check_schema("t", schema) == schema


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"properties": {"a": {"$ref": "https://a.example/s.json"}}}, "https://a.example/s.json"),
        ({"anyOf": [{"$ref": "file:///etc/passwd"}]}, "file:///etc/passwd"),
        ({"type": "objekt"}, "broken JSON Schema"),
    ],
    ids=["url", "file", "type"],
)
def test_a_schema_that_cannot_be_used_says_why(schema: dict[str, Any], says: str) -> None:
    with pytest.raises(SourceUnavailable, match=says):
        check_schema("t", schema)
