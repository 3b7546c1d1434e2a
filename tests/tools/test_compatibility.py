"""Whether values of one schema fit another: shown by cases, and held against a real validator."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.tools.compatibility import Fits, schema_fits
from pegboard.tools.raw_schema import compiled

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


@pytest.mark.parametrize(("one", "other"), YES.values(), ids=YES)
def test_what_surely_fits(one: Any, other: Any) -> None:
    fit = schema_fits(one, other)

    assert (fit.answer, str(fit)) == (Fits.YES, "yes")
    assert fit.is_certain


@pytest.mark.parametrize(("one", "other", "reason"), NO.values(), ids=NO)
def test_what_never_fits(one: Any, other: Any, reason: str) -> None:
    fit = schema_fits(one, other)

    assert fit.answer is Fits.NO
    assert fit.is_impossible
    assert reason in str(fit)


@pytest.mark.parametrize(("one", "other", "reason"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_what_may_fit(one: Any, other: Any, reason: str) -> None:
    fit = schema_fits(one, other)

    assert fit.answer is Fits.DOUBTFUL
    assert reason in str(fit)


def test_objects_may_be_taken_as_closed() -> None:
    one = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}

    assert schema_fits(one, an_object("a", a=TEXT)).answer is Fits.DOUBTFUL
    assert schema_fits(one, an_object("a", a=TEXT), closed=True).answer is Fits.YES
    assert schema_fits(one, an_object("a", "b", b=TEXT), closed=True).answer is Fits.NO


@pytest.mark.parametrize(
    "opening",
    [{"additionalProperties": True}, {"anyOf": [{"properties": {"b": NULL}}, {}]}],
    ids=["it says so", "in an alternative"],
)
def test_an_object_that_says_what_else_it_has_is_not_taken_as_closed(
    opening: dict[str, Any],
) -> None:
    one = {"type": "object", "properties": {"a": TEXT}, "required": ["a"], **opening}

    assert schema_fits(one, an_object("a", a=TEXT), closed=True).answer is not Fits.YES


@pytest.mark.parametrize(
    "loop",
    [{"$ref": "#"}, {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}],
    ids=["a reference", "alternatives"],
)
def test_a_schema_that_is_only_itself_is_doubtful(loop: dict[str, Any]) -> None:
    assert schema_fits(TEXT, loop).answer is Fits.DOUBTFUL
    assert schema_fits(loop, TEXT).answer is Fits.DOUBTFUL


def test_a_recursive_schema_that_differs_is_told_apart() -> None:
    other = deepcopy(WIDER_TREE)
    other["definitions"]["node"]["properties"]["value"] = TEXT

    assert str(schema_fits(TREE, other)).startswith("value: is whole number")


def test_many_alternatives_end_in_doubt() -> None:
    many = [{"anyOf": [{"minLength": n}, {"maxLength": n, "pattern": f"^{n}"}]} for n in range(30)]

    fit = schema_fits({"type": "string", "allOf": many}, {"type": "string", "pattern": "x"})

    assert fit.answer is Fits.DOUBTFUL
    assert "too large to be compared" in str(fit)


def test_deep_schemas_end_in_doubt() -> None:
    deep: Any = {"type": "integer", "minimum": 1}
    other: Any = NUMBER
    for _ in range(120):
        deep, other = {"properties": {"a": deep}}, {"properties": {"a": other}}

    assert schema_fits(deep, other).answer is Fits.DOUBTFUL


# held against a real validator, over every value of a small world

NAMES = ["a", "b"]
SMALL: list[Any] = [None, True, False, 0, 1, 2, 3, 1.5, -1, "", "a", "ab", "abc"]
PAIRS: list[Any] = [0, 1.5, "a", None]
WORLD: list[Any] = [
    *SMALL,
    *([], [[]], [{}]),
    *([item] for item in SMALL),
    *([one, other] for one in PAIRS for other in PAIRS),
    *([0, 0, 0], [1, "a", None]),
    *({}, {"c": 1}, {"a": {"a": 1}}, {"a": {"b": "a"}}, {"a": [1]}, {"b": {"a": {"a": 1}}}),
    *({name: item} for name in NAMES for item in SMALL),
    *({"a": one, "b": other} for one in PAIRS for other in PAIRS),
]
SCALARS = st.sampled_from(SMALL)
SIZES = st.integers(0, 3)
NUMBERS = st.sampled_from([0, 1, 1.5, 2, 3])


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=2)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        **dict.fromkeys(("anyOf", "oneOf", "allOf"), some),
        **dict.fromkeys(("not", "if", "then", "else", "items", "contains"), inner),
        **dict.fromkeys(("additionalProperties", "unevaluatedProperties"), inner),
        "prefixItems": some,
        "properties": st.dictionaries(st.sampled_from(NAMES), inner, max_size=2),
        "patternProperties": st.dictionaries(st.sampled_from(["a", "^b", "c"]), inner, max_size=1),
        "propertyNames": st.sampled_from([{"enum": NAMES}, {"maxLength": 1}]),
        "required": st.lists(st.sampled_from(NAMES), unique=True),
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), SIZES),
        **dict.fromkeys(("minProperties", "maxProperties"), SIZES),
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), NUMBERS),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "uniqueItems": st.booleans(),
        "pattern": st.sampled_from(["a", "^ab"]),
        "enum": st.lists(st.sampled_from(WORLD), min_size=1, max_size=3),
        "const": SCALARS,
        "$ref": st.sampled_from(["#/$defs/x", "#/$defs/y", "#"]),
    }
    names = st.lists(st.sampled_from(sorted(keywords)), max_size=3, unique=True)
    kinds = st.sampled_from(["object", "array", "string", "number", "integer", "boolean", "null"])
    kind = st.one_of(st.none(), kinds, st.lists(kinds, min_size=1, max_size=3, unique=True))
    return st.tuples(names, kind).flatmap(
        lambda chosen: st.fixed_dictionaries(
            {name: keywords[name] for name in chosen[0]}
            | ({} if chosen[1] is None else {"type": st.just(chosen[1])})
        )
    )


PLAIN = st.booleans() | st.sampled_from([TEXT, WHOLE, NUMBER, NULL])
SCHEMA = st.recursive(PLAIN, _schemas, max_leaves=6)
DOCUMENT = st.builds(
    lambda root, x, y: {**root, "$defs": {"x": x, "y": y}},
    _schemas(SCHEMA),
    SCHEMA,
    SCHEMA,
)


def _fitting(schema: dict[str, Any]) -> list[Any] | None:
    """What of the world fits; None for a schema that refers to itself without end."""
    if _is_endless(schema, schema, ()):
        return None
    return [value for value in WORLD if compiled("t", schema).is_valid(value)]


def _is_endless(schema: Any, root: Any, seen: tuple[str, ...]) -> bool:
    if not isinstance(schema, dict):
        return False
    if reference := schema.get("$ref"):
        if reference in seen:
            return True
        target = root if reference == "#" else root["$defs"][reference[-1]]
        if _is_endless(target, root, (*seen, reference)):
            return True
    same_place = [schema.get(key) for key in ("not", "if", "then", "else")]
    same_place += [item for key in ("anyOf", "oneOf", "allOf") for item in schema.get(key, ())]
    return any(_is_endless(item, root, seen) for item in same_place)


@given(DOCUMENT, DOCUMENT)
@settings(max_examples=400)
def test_an_answer_holds_for_every_value_of_a_small_world(one: Any, other: Any) -> None:
    here, there = _fitting(one), _fitting(other)
    if here is None or there is None:
        schema_fits(one, other)
        return
    answer = schema_fits(one, other).answer
    both = [value for value in here if compiled("t", other).is_valid(value)]

    assert answer is not Fits.YES or both == here
    assert answer is not Fits.NO or both == []


@given(DOCUMENT)
@settings(max_examples=100)
def test_a_schema_surely_fits_itself_and_what_is_wider(schema: Any) -> None:
    assert schema_fits(schema, schema).is_certain
    assert schema_fits(schema, {"anyOf": [True]}).is_certain
