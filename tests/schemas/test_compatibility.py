"""Whether values of one schema fit another: held against a real validator."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.schemas.schema_cases import (
    NO,
    NULL,
    NUMBER,
    TEXT,
    TREE,
    UNKNOWN,
    WHOLE,
    WIDER_TREE,
    YES,
    an_object,
)

from pegboard.schemas.compatibility import Fits, Mismatch, schema_fits
from pegboard.schemas.validator import compile_schema


@pytest.mark.parametrize(("one", "other"), YES.values(), ids=YES)
def test_every_value_fits(one: Any, other: Any) -> None:
    fit = schema_fits(one, other)

    assert (fit.answer, str(fit)) == (Fits.YES, "yes")
    assert fit.is_certain


@pytest.mark.parametrize(("one", "other", "reason"), NO.values(), ids=NO)
def test_no_value_fits(one: Any, other: Any, reason: str) -> None:
    fit = schema_fits(one, other)

    assert fit.answer is Fits.NO
    assert fit.is_impossible
    assert reason in str(fit)


@pytest.mark.parametrize(("one", "other", "reason"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_cannot_be_decided_is_unknown(one: Any, other: Any, reason: str) -> None:
    fit = schema_fits(one, other)

    assert fit.answer is Fits.UNKNOWN
    assert reason in str(fit)


def test_a_mismatch_has_the_whole_path_to_it() -> None:
    mismatch = Mismatch(message="may be null")

    assert str(mismatch) == "may be null"
    assert (
        str(mismatch.within("price").within("[]").within("items")) == "items[].price: may be null"
    )
    assert str(mismatch.within("[0]").within("a").within("b")) == "b.a[0]: may be null"


def test_objects_may_be_taken_as_closed() -> None:
    one = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}

    assert schema_fits(one, an_object("a", a=TEXT)).answer is Fits.UNKNOWN
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
def test_a_schema_that_is_only_itself_is_unknown(loop: dict[str, Any]) -> None:
    assert schema_fits(TEXT, loop).answer is Fits.UNKNOWN
    assert schema_fits(loop, TEXT).answer is Fits.UNKNOWN


def test_recursive_schemas_that_differ_do_not_fit() -> None:
    other = deepcopy(WIDER_TREE)
    other["definitions"]["node"]["properties"]["value"] = TEXT

    assert str(schema_fits(TREE, other)).startswith("value: expected string, got integer")


def test_many_alternatives_are_not_compared_for_ever() -> None:
    many = [{"anyOf": [{"minLength": n}, {"maxLength": n, "pattern": f"^{n}"}]} for n in range(30)]

    fit = schema_fits({"type": "string", "allOf": many}, {"type": "string", "pattern": "x"})

    assert fit.answer is Fits.UNKNOWN
    assert "too large to be compared" in str(fit)


def test_schemas_too_deep_to_be_compared_are_unknown() -> None:
    deep: Any = {"type": "integer", "minimum": 1}
    other: Any = NUMBER
    for _ in range(150):
        deep, other = {"properties": {"a": deep}}, {"properties": {"a": other}}

    assert schema_fits(deep, other).answer is Fits.UNKNOWN


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
    return [value for value in WORLD if compile_schema("t", schema).is_valid(value)]


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


@pytest.mark.slow
@pytest.mark.timeout(60)
@given(DOCUMENT, DOCUMENT)
@settings(max_examples=120)
def test_an_answer_holds_for_every_value_of_a_small_world(one: Any, other: Any) -> None:
    here, there = _fitting(one), _fitting(other)
    if here is None or there is None:
        schema_fits(one, other)
        return
    answer = schema_fits(one, other).answer
    both = [value for value in here if compile_schema("t", other).is_valid(value)]

    assert answer is not Fits.YES or both == here
    assert answer is not Fits.NO or both == []


@given(DOCUMENT)
@settings(max_examples=40)
def test_a_schema_surely_fits_itself_and_what_is_wider(schema: Any) -> None:
    assert schema_fits(schema, schema).is_certain
    assert schema_fits(schema, {"anyOf": [True]}).is_certain
