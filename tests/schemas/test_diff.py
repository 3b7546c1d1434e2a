"""How schemas differ, place by place."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.schemas import diff
from pegboard.schemas.diff import Change, SchemaChangeKind, schema_changes
from pegboard.schemas.validator import compile_schema

TEXT, WHOLE, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}


def closed(*required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def told(old: Any, new: Any, direction: Any = "input") -> list[str]:
    return [str(change) for change in schema_changes("s", old, new, direction=direction)]


OLD = closed("a", a=WHOLE)


@pytest.mark.parametrize(
    ("new", "changes"),
    [
        (closed("a", a=WHOLE), []),
        (closed("a", a=NUMBER), ["s.properties.a.type: changed (additive)"]),
        (closed("a", a=TEXT), ["s.properties.a.type: changed (breaking)"]),
        (closed("a", a=WHOLE, b=TEXT), ["s.properties.b: added (additive)"]),
        (
            closed("a", "b", a=WHOLE, b=TEXT),
            ["s.properties.b: added (additive)", "s.required.b: added (breaking)"],
        ),
        (closed(a=WHOLE), ["s.required.a: removed (additive)"]),
        (closed(), ["s.properties.a: removed (breaking)", "s.required.a: removed (additive)"]),
        (
            closed("a", a={**WHOLE, "minimum": 1}),
            ["s.properties.a.minimum: added (breaking)"],
        ),
        (
            closed("a", a={**WHOLE, "description": "How many."}),
            ["s.properties.a.description: added (wording)"],
        ),
        (
            {**OLD, "additionalProperties": True, "properties": {}},
            ["s.properties.a: removed (breaking)", "s.additionalProperties: changed (additive)"],
        ),
        (True, ["s: changed (additive)"]),
        (False, ["s: changed (breaking)"]),
    ],
    ids=[
        *("same", "wider", "other", "optional", "required", "no longer required", "gone"),
        *("narrower", "words", "open", "anything", "nothing"),
    ],
)
def test_inputs_may_get_wider(new: Any, changes: list[str]) -> None:
    assert sorted(told(OLD, new)) == sorted(changes)


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        (
            {"properties": {"a": WHOLE}},
            {"properties": {"a": WHOLE, "b": TEXT}},
            ["s.properties.b: added (additive)"],
        ),
        (closed(a=WHOLE), closed(a=WHOLE, b=TEXT), ["s.properties.b: added (breaking)"]),
        (closed(a=NUMBER), closed(a=WHOLE), ["s.properties.a.type: changed (additive)"]),
        (closed(a=WHOLE), closed("a", a=WHOLE), ["s.required.a: added (additive)"]),
        (
            {"properties": {"a": WHOLE}},
            {"properties": {}},
            ["s.properties.a: removed (breaking)"],
        ),
    ],
    ids=["more", "more where nothing else may be", "narrower", "surer", "less"],
)
def test_outputs_may_get_narrower(old: Any, new: Any, changes: list[str]) -> None:
    assert told(old, new, "output") == changes


def test_items_and_definitions_are_places() -> None:
    old = {
        "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/item"}}},
        "$defs": {"item": {"type": "string", "maxLength": 5}, "old": TEXT},
    }
    new = {
        "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/item"}}},
        "$defs": {"item": {"type": "string", "maxLength": 9}, "new": TEXT},
    }
    deep = {"items": {"items": {"maximum": 5}}}

    assert told(old, new) == [
        "s.$defs.item.maxLength: changed (additive)",
        "s.$defs.old: removed (additive)",
        "s.$defs.new: added (additive)",
    ]
    assert told(new, old)[0] == "s.$defs.item.maxLength: changed (breaking)"
    assert told(deep, {"items": {"items": {"maximum": 4}}}) == [
        "s.items.items.maximum: changed (breaking)"
    ]


def test_properties_that_come_at_all_are_told_one_by_one() -> None:
    assert told({"type": "object"}, {"type": "object", "properties": {"a": TEXT}}) == [
        "s.properties.a: added (breaking)"
    ]


def test_values_are_kept_for_whoever_decides() -> None:
    changes = schema_changes("s", {"minimum": 1}, {"minimum": 0}, direction="input")

    assert changes == [Change(place="s.minimum", kind=SchemaChangeKind.ADDITIVE, before=1, after=0)]


def test_what_cannot_be_compared_is_breaking() -> None:
    strange = {"$schema": "urn:unknown", "minimum": 5}

    assert told(strange, {**strange, "minimum": 4}) == ["s.minimum: changed (breaking)"]


NAMES = ["a", "b"]
VALUES: list[Any] = [None, True, 0, 1, 5, 1.5, "", "a", "abc", [], [1], ["a"]]
OBJECTS: list[Any] = [
    {},
    *({name: value} for name in NAMES for value in VALUES),
    *({"a": one, "b": other} for one in VALUES for other in VALUES),
]
LEAF = st.sampled_from(
    [
        TEXT,
        WHOLE,
        NUMBER,
        {"type": ["string", "null"]},
        {"type": "string", "maxLength": 2},
        {"enum": [1, "a"]},
        {"type": "array", "items": TEXT},
        {"type": "integer", "minimum": 1},
        {"$ref": "#/$defs/x"},
        {"anyOf": [WHOLE, TEXT]},
        True,
    ]
)
SCHEMAS = st.builds(
    lambda properties, required, is_closed, shared: {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": not is_closed,
        "$defs": {"x": shared},
    },
    st.dictionaries(st.sampled_from(NAMES), LEAF),
    st.lists(st.sampled_from(NAMES), unique=True),
    st.booleans(),
    st.sampled_from([TEXT, WHOLE]),
)


def _named_only(schema: Any) -> list[Any]:
    names = schema["properties"].keys()
    return [
        value
        for value in OBJECTS
        if value.keys() <= names and compile_schema("s", schema).is_valid(value)
    ]


@pytest.mark.slow
@given(SCHEMAS, SCHEMAS)
@settings(max_examples=150)
def test_where_no_change_is_breaking_everything_still_works(old: Any, new: Any) -> None:
    into = {change.kind for change in schema_changes("s", old, new, direction="input")}
    out = {change.kind for change in schema_changes("s", old, new, direction="output")}
    accepts = compile_schema("new", new).is_valid
    fits = compile_schema("old", old).is_valid

    assert SchemaChangeKind.BREAKING in into or all(map(accepts, _named_only(old)))
    assert SchemaChangeKind.BREAKING in out or all(
        fits(value) for value in OBJECTS if compile_schema("new", new).is_valid(value)
    )
    assert schema_changes("s", old, old, direction="input") == []


class Name(str):
    """A name that counts with how many it is compared."""

    times = 0
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.times += 1
        return str.__eq__(self, other)


def test_thousands_of_required_names_are_not_compared_with_each_other() -> None:
    Name.times = 0
    walk = diff._SchemaWalk("input", {}, {})
    before, after = ([Name(f"n{at}") for at in range(first, first + 2_000)] for first in (0, 1))

    found = [str(change) for change in walk._compare_required("required", before, after)]

    assert found == ["required.n2000: added (breaking)", "required.n0: removed (additive)"]
    assert Name.times < 20_000


def test_a_property_that_goes_is_a_loss_among_changes_that_are_fine() -> None:
    old = {"type": "object", "properties": {"a": TEXT, "b": WHOLE}}
    new = {"type": "object", "properties": {"b": NUMBER}, "additionalProperties": True}

    assert told(old, new) == [
        "s.properties.a: removed (breaking)",
        "s.properties.b.type: changed (additive)",
        "s.additionalProperties: added (additive)",
    ]
