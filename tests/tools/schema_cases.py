"""Pairs of schemas: what is given, what is wanted, and what is said of them."""

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
    "from nothing": (False, TEXT),
    "whole into number": (WHOLE, NUMBER),
    "narrower bounds": ({"type": "number", "minimum": 2, "maximum": 3}, {"exclusiveMinimum": 1}),
    "whole numbers skip what lies between": (
        {"type": "integer", "exclusiveMinimum": 0},
        {"type": "integer", "minimum": 1},
    ),
    "shorter texts": ({"type": "string", "maxLength": 3}, {"type": "string", "maxLength": 9}),
    "a constant": ({"const": "a"}, {"enum": ["a", "b"]}),
    "a constant by pattern": ({"const": "ab"}, {"type": "string", "pattern": "^a"}),
    "the same format": ({"type": "string", "format": "date"}, {"format": "date"}),
    "multiples": ({"type": "integer", "multipleOf": 6}, {"multipleOf": 3}),
    "null or text": ({"anyOf": [TEXT, NULL]}, {"type": ["string", "null"]}),
    "types into alternatives": ({"type": ["string", "null"]}, {"anyOf": [NULL, TEXT]}),
    "booleans one by one": ({"type": "boolean"}, {"enum": [True, False]}),
    "one of": (WHOLE, {"oneOf": [{"type": "number"}, TEXT]}),
    "not": (WHOLE, {"not": TEXT}),
    "what the condition asks": (
        {"type": "string", "minLength": 1},
        {"if": TEXT, "then": {"minLength": 1}, "else": False},
    ),
    "items": ({"type": "array", "items": WHOLE}, {"items": NUMBER}),
    "a tuple": (
        {"prefixItems": [WHOLE, TEXT], "items": False, "type": "array", "minItems": 2},
        {"type": "array", "items": {"type": ["integer", "string"]}, "minItems": 1},
    ),
    "at most one item is unique": ({"type": "array", "maxItems": 1}, {"uniqueItems": True}),
    "an object": (
        an_object("a", a=WHOLE, b=TEXT),
        {"required": ["a"], "properties": {"a": NUMBER}},
    ),
    "a map": (
        {"type": "object", "additionalProperties": WHOLE},
        {"type": "object", "additionalProperties": NUMBER},
    ),
    "a closed object into a pattern": (
        an_object(x=WHOLE),
        {"patternProperties": {"^x": NUMBER}, "additionalProperties": NUMBER},
    ),
    "few properties": (an_object("a", a={}), {"minProperties": 1, "maxProperties": 1}),
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
    "other types": (TEXT, WHOLE, "is string; wanted is whole number"),
    "into nothing": (TEXT, False, "no value is wanted"),
    "other constants": ({"enum": ["a", "b"]}, {"enum": ["c"]}, '"a" (string), "b" (string)'),
    "a constant that is never given": (
        {"type": "integer", "minimum": 3},
        {"enum": [1, 2]},
        "is never 1 (number), 2 (number)",
    ),
    "numbers apart": (
        {"type": "number", "maximum": 1},
        {"minimum": 2, "type": "number"},
        "2 to inf",
    ),
    "numbers that touch": (
        {"type": "number", "exclusiveMaximum": 2},
        {"minimum": 2, "type": "number"},
        "never meet",
    ),
    "texts too long": (
        {"type": "string", "minLength": 5},
        {"type": "string", "maxLength": 4},
        "the sizes never meet: at least 5, and at most 4",
    ),
    "a property of another type": (
        an_object("a", a=an_object("b", b=TEXT)),
        {"type": "object", "required": ["a"], "properties": {"a": an_object("b", b=WHOLE)}},
        "a.b: is string",
    ),
    "a property that is never given": (
        an_object("a", a=TEXT),
        {"type": "object", "required": ["b"]},
        "b: is wanted always, and never given",
    ),
    "items of another type": (
        {"type": "array", "items": TEXT, "minItems": 1},
        {"type": "array", "items": WHOLE},
        "[0]: is string",
    ),
    "no alternative": ({"anyOf": [TEXT, WHOLE]}, {"oneOf": [NULL, {"type": "array"}]}, "wanted is"),
    "what is excluded": ({"type": "integer", "minimum": 3}, {"not": NUMBER}, "excludes"),
}
DOUBTFUL: dict[str, tuple[Any, Any, str]] = {
    "number into whole": (NUMBER, WHOLE, "may be number with a fraction; wanted is whole number"),
    "anything into text": ({}, TEXT, "may be array or boolean or null or number or object; wanted"),
    "null or text into text": (
        an_object(a={"anyOf": [TEXT, NULL]}),
        {"properties": {"a": TEXT}},
        "a: may be null, which does not fit",
    ),
    "text into a choice": (TEXT, {"enum": ["a", "b"]}, 'may be something else than "a", "b"'),
    "text into a date": (TEXT, {"format": "date", "type": "string"}, "have the format 'date'"),
    "less": (NUMBER, {"minimum": 0}, "may be less than 0"),
    "more": ({"type": "number", "maximum": 9}, {"exclusiveMaximum": 9}, "may be 9, or more"),
    "no multiple": (NUMBER, {"multipleOf": 2}, "may be no multiple of 2"),
    "a property that may be missing": (
        an_object(a=TEXT),
        {"required": ["a"]},
        "a: is wanted always, and may be missing",
    ),
    "an open object into a closed one": (
        {"type": "object", "properties": {"a": TEXT}},
        an_object(a=TEXT),
        "*: ",
    ),
    "deep places": (
        {"type": "array", "items": an_object(a={"type": "array", "items": {"enum": [1, "x"]}})},
        {"items": {"properties": {"a": {"items": WHOLE}}}},
        '[].a[]: may be "x" (string), which does not fit',
    ),
    "several of one of": (WHOLE, {"oneOf": [NUMBER, WHOLE]}, "may fit several alternatives"),
    "one likely alternative": (
        {"type": "string"},
        {"anyOf": [{"type": "string", "minLength": 1}, NULL]},
        "may have fewer than 1 characters",
    ),
    "several likely alternatives": (
        TEXT,
        {"anyOf": [{"type": "string", "minLength": 1}, {"const": "x"}]},
        "does not surely fit one of the 2 alternatives",
    ),
    "perhaps excluded": (TEXT, {"not": {"const": "a"}}, "may be what is not wanted"),
    "perhaps under a condition": (
        TEXT,
        {"if": {"const": "a"}, "then": False, "else": {"minLength": 1}},
        "may have fewer than 1 characters",
    ),
    "the same item twice": ({"type": "array"}, {"uniqueItems": True}, "the same item twice"),
    "a place of a tuple": (
        {"type": "array", "items": TEXT},
        {"prefixItems": [TEXT, WHOLE]},
        "[1]: may be string",
    ),
    "what is not compared": ({"type": "array"}, {"contains": TEXT}, "'contains' of what is wanted"),
    "too many properties": ({"type": "object"}, {"maxProperties": 3}, "more than 3 properties"),
    "another draft": (
        {"$schema": "http://json-schema.org/draft-04/schema#"},
        TEXT,
        "what is given is written in 'http://json-schema.org/draft-04/schema#'",
    ),
    "a part with an identity": (
        TEXT,
        {"properties": {"a": {"$id": "urn:x", "type": "string"}}},
        "what is wanted gives a part an identity of its own",
    ),
    "places of another draft": (
        {**DRAFT_7, "prefixItems": [TEXT]},
        TEXT,
        "what is given has 'prefixItems', which its draft does not know",
    ),
    "a broken schema": ({"type": "strin"}, TEXT, "what is given has a broken JSON Schema"),
    "a reference that leads outside": (
        {"$ref": "https://example.com/a.json"},
        TEXT,
        "what is given has a broken JSON Schema",
    ),
    "no schema": (5, TEXT, "what is given is no JSON Schema"),
    "a constant, of a document that refers to itself": (
        an_object(a={"const": 1}),
        {"properties": {"a": {"const": 1}, "b": {"$ref": "#"}}},
        "a: may be 1 (number), of which it is not known whether it fits",
    ),
}
