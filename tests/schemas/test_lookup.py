"""Finding what a schema says of a place in the arguments."""

from typing import Any

import pytest

from pegboard.schemas.lookup import description_of, property_names

SCHEMA: dict[str, Any] = {
    "properties": {
        "plain": {"description": "Plain.", "properties": {"a": {}}},
        "list": {"items": {"properties": {"b": {"description": "B."}}}},
        "tuple": {"prefixItems": [{"properties": {"c": {}}}], "items": {"properties": {"d": {}}}},
        "map": {"additionalProperties": {"properties": {"e": {}}}},
        "either": {"anyOf": [{"$ref": "#/$defs/F"}, {"type": "null"}]},
        "all": {"allOf": [{"properties": {"g": {}}}], "properties": {"h": {}}},
        "loop": {"$ref": "#/$defs/Loop"},
        "nowhere": {"$ref": "#/$defs/Nowhere/more"},
        "elsewhere": {"$ref": "http://127.0.0.1/x"},
        "odd": {"properties": ["not", "a", "mapping"], "anyOf": "neither"},
        "open": True,
    },
    "$defs": {
        "F": {"properties": {"f": {"description": "F."}}},
        "Loop": {"$ref": "#/$defs/Loop", "properties": {"self": {"$ref": "#/$defs/Loop"}}},
    },
}


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ((), list(SCHEMA["properties"])),
        (("plain",), ["a"]),
        (("list", 5), ["b"]),
        (("tuple", 0), ["c"]),
        (("tuple", 1), ["d"]),
        (("map", "any"), ["e"]),
        (("either",), ["f"]),
        (("all",), ["h", "g"]),
        (("loop", "self", "self"), ["self"]),
        (("nowhere",), []),
        (("elsewhere",), []),
        (("odd",), []),
        (("open", "any", 5), []),
        (("unknown",), []),
    ],
    ids=str,
)
def test_the_names_at_a_place_are_those_of_every_alternative(place: Any, names: list[str]) -> None:
    assert property_names(SCHEMA, place) == names


@pytest.mark.parametrize(
    ("place", "description"),
    [
        (("plain",), "Plain."),
        (("list", 0, "b"), "B."),
        (("either", "f"), "F."),
        (("plain", "a"), ""),
        (("unknown", "x"), ""),
    ],
    ids=str,
)
def test_a_place_is_described_as_the_schema_does(place: Any, description: str) -> None:
    assert description_of(SCHEMA, place) == description


def test_a_reference_to_the_whole_is_followed() -> None:
    schema = {"properties": {"inner": {"$ref": "#"}, "a": {}}}

    assert property_names(schema, ("inner", "inner")) == ["inner", "a"]
