"""Pairs of schemas, given and expected, and the result of their comparison."""

from typing import Any

TEXT, WHOLE, NUMBER, NULL = ({"type": t} for t in ("string", "integer", "number", "null"))
TREE = {
    "$ref": "#/$defs/tree",
    "$defs": {
        "tree": {
            "type": "object",
            "properties": {"next": {"$ref": "#/$defs/tree"}, "value": WHOLE},
            "required": ["value"],
            "additionalProperties": False,
        }
    },
}
WIDER_TREE: dict[str, Any] = {
    "$ref": "#/definitions/node",
    "definitions": {
        "node": {
            "type": "object",
            "properties": {"next": {"$ref": "#/definitions/node"}, "value": NUMBER},
        }
    },
}
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}


def an_object(*required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


YES: dict[str, tuple[Any, Any]] = {
    "the same, whatever it says": (
        {"propertyNames": {"pattern": "a"}},
        {"propertyNames": {"pattern": "a"}},
    ),
    "into anything": (TEXT, {}),
    "into true": (TEXT, True),
    "no bounds at all": ({"type": "array"}, {"minItems": 0, "uniqueItems": False}),
    "the same rule beside others": (
        {"type": "array", "maxItems": 3, "contains": {"const": 1}, "minContains": 2},
        {"contains": {"const": 1}, "minContains": 2},
    ),
    "from nothing": (False, TEXT),
    "whole into number": (WHOLE, NUMBER),
    "narrower bounds": ({"type": "number", "minimum": 2, "maximum": 3}, {"minimum": 1}),
    "shorter texts": ({"type": "string", "maxLength": 3}, {"type": "string", "maxLength": 9}),
    "a constant": ({"const": "a"}, {"enum": ["a", "b"]}),
    "a constant by pattern": ({"const": "ab"}, {"type": "string", "pattern": "^a"}),
    "the same format": ({"type": "string", "format": "date"}, {"format": "date"}),
    "null or text": ({"anyOf": [TEXT, NULL]}, {"type": ["string", "null"]}),
    "types into alternatives": ({"type": ["string", "null"]}, {"anyOf": [NULL, TEXT]}),
    "one of": (WHOLE, {"oneOf": [{"type": "number"}, TEXT]}),
    "items": ({"type": "array", "items": WHOLE}, {"items": NUMBER}),
    "a tuple": (
        {"prefixItems": [WHOLE, TEXT], "items": False, "type": "array", "minItems": 2},
        {"type": "array", "items": {"type": ["integer", "string"]}, "minItems": 1},
    ),
    "an object": (
        an_object("a", a=WHOLE, b=TEXT),
        {"required": ["a"], "properties": {"a": NUMBER}},
    ),
    "a map": (
        {"type": "object", "additionalProperties": WHOLE},
        {"type": "object", "additionalProperties": NUMBER},
    ),
    "recursion": (TREE, WIDER_TREE),
    "all of": ({"allOf": [{"minimum": 1}, WHOLE]}, {"type": "number", "minimum": 0}),
    "alternatives that share a rule": (
        {"minimum": 3, "anyOf": [WHOLE, {"type": "number", "maximum": 9}]},
        {"type": "number", "minimum": 1},
    ),
    "what draft 7 overlooks beside a reference": (
        {**DRAFT_7, "$ref": "#/definitions/a", "type": "null", "definitions": {"a": WHOLE}},
        WHOLE,
    ),
    "tuples of draft 7": (
        {**DRAFT_7, "type": "array", "items": [WHOLE], "additionalItems": TEXT},
        {"prefixItems": [NUMBER], "items": TEXT},
    ),
    "a reference with escapes": (
        {"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": WHOLE}},
        WHOLE,
    ),
    "a reference into a list": (
        {"properties": {"a": {"$ref": "#/allOf/0"}}, "allOf": [TEXT]},
        TEXT,
    ),
}
NO: dict[str, tuple[Any, Any, str]] = {
    "other types": (TEXT, WHOLE, "expected integer, got string"),
    "into nothing": (TEXT, False, "expected no value"),
    "other constants": ({"enum": ["a", "b"]}, {"enum": ["c"]}, '"a" (string) does not fit'),
    "a constant that is never given": (
        {"type": "integer", "minimum": 3},
        {"enum": [1, 2]},
        "expected 1 (number), 2 (number)",
    ),
    "a property of another type": (
        an_object("a", a=an_object("b", b=TEXT)),
        {"type": "object", "required": ["a"], "properties": {"a": an_object("b", b=WHOLE)}},
        "a.b: expected integer, got string",
    ),
    "a property that is never given": (
        an_object("a", a=TEXT),
        {"type": "object", "required": ["b"]},
        "b: is required and may be missing",
    ),
    "items of another type": (
        {"type": "array", "items": TEXT, "minItems": 1},
        {"type": "array", "items": WHOLE},
        "[]: expected integer, got string",
    ),
    "no alternative": (
        {"anyOf": [TEXT, WHOLE]},
        {"oneOf": [NULL, {"type": "array"}]},
        "none of the 2 alternatives",
    ),
}
UNKNOWN: dict[str, tuple[Any, Any, str]] = {
    "bounds of two kinds": (
        {"type": "integer", "exclusiveMinimum": 0},
        {"type": "integer", "minimum": 1},
        "'minimum' (1) may not hold",
    ),
    "numbers apart": (
        {"type": "number", "maximum": 1},
        {"minimum": 2, "type": "number"},
        "'minimum' (2) may not hold",
    ),
    "a name that a pattern may mean": (
        an_object("x", x=WHOLE),
        {"patternProperties": {"^x": NUMBER}, "additionalProperties": False},
        "'patternProperties' is not compared",
    ),
    "number into whole": (NUMBER, WHOLE, "expected integer, got number"),
    "anything into text": ({}, TEXT, "expected string, got any value"),
    "null or text into text": (
        an_object(a={"anyOf": [TEXT, NULL]}),
        {"properties": {"a": TEXT}},
        "a: expected string, got null",
    ),
    "text into a choice": (TEXT, {"enum": ["a", "b"]}, 'expected "a" (string), "b" (string)'),
    "text into a date": (
        TEXT,
        {"format": "date", "type": "string"},
        "'format' (date) may not hold",
    ),
    "less": (NUMBER, {"minimum": 0}, "'minimum' (0) may not hold"),
    "more": (
        {"type": "number", "maximum": 9},
        {"exclusiveMaximum": 9},
        "'exclusiveMaximum' (9) may not hold",
    ),
    "no multiple": (NUMBER, {"multipleOf": 2}, "'multipleOf' (2) may not hold"),
    "a property that may be missing": (
        an_object(a=TEXT),
        {"required": ["a"]},
        "a: is required and may be missing",
    ),
    "an open object into a closed one": (
        {"type": "object", "properties": {"a": TEXT}},
        an_object(a=TEXT),
        "*: expected no value",
    ),
    "deep places": (
        {"type": "array", "items": an_object(a={"type": "array", "items": {"enum": [1, "x"]}})},
        {"items": {"properties": {"a": {"items": WHOLE}}}},
        '[].a[]: "x" (string) does not fit',
    ),
    "several of one of": (WHOLE, {"oneOf": [NUMBER, WHOLE]}, "exactly one of the 2 alternatives"),
    "one likely alternative": (
        {"type": "string"},
        {"anyOf": [{"type": "string", "minLength": 1}, NULL]},
        "'minLength' (1) may not hold",
    ),
    "several likely alternatives": (
        TEXT,
        {"anyOf": [{"type": "string", "minLength": 1}, {"const": "x"}]},
        "may not fit exactly one of the 2 alternatives",
    ),
    "perhaps excluded": (TEXT, {"not": {"const": "a"}}, "'not' is not compared"),
    "perhaps under a condition": (
        TEXT,
        {"if": {"const": "a"}, "then": False, "else": {"minLength": 1}},
        "'else' is not compared",
    ),
    "the same item twice": (
        {"type": "array"},
        {"uniqueItems": True},
        "'uniqueItems' (True) may not hold",
    ),
    "a place of a tuple": (
        {"type": "array", "items": TEXT},
        {"prefixItems": [TEXT, WHOLE]},
        "[1]: expected integer, got string",
    ),
    "what is not compared": ({"type": "array"}, {"contains": TEXT}, "'contains' is not compared"),
    "too many properties": (
        {"type": "object"},
        {"maxProperties": 3},
        "'maxProperties' (3) may not hold",
    ),
    "another draft": (
        {"$schema": "http://json-schema.org/draft-04/schema#"},
        TEXT,
        "the given schema is written in 'http://json-schema.org/draft-04/schema#'",
    ),
    "a part with an identity": (
        TEXT,
        {"properties": {"a": {"$id": "urn:x", "type": "string"}}},
        "the expected schema gives a part an identity of its own",
    ),
    "places of another draft": (
        {**DRAFT_7, "prefixItems": [TEXT]},
        TEXT,
        "the given schema has 'prefixItems', which its draft does not know",
    ),
    "a broken schema": ({"type": "strin"}, TEXT, "the given schema has a broken JSON Schema"),
    "a reference that leads outside": (
        {"$ref": "https://example.com/a.json"},
        TEXT,
        "the given schema has a broken JSON Schema",
    ),
    "no schema": (5, TEXT, "the given schema is no JSON Schema"),
    "a constant, of a document that refers to itself": (
        an_object(a={"const": 1}),
        {"properties": {"a": {"const": 1}, "b": {"$ref": "#"}}},
        "a: 1 (number) could not be checked",
    ),
}
