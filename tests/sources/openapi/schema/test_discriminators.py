"""Alternatives that a property tells apart."""

from typing import Any

import pytest
from tests.network.loopback import always
from tests.sources.openapi.bench import bench, json_body, json_reply, one

from pegboard.sources.openapi.document.lenient_access import LocatedNode
from pegboard.sources.openapi.document.references import References
from pegboard.sources.openapi.schema.discriminators import Discriminator, has_discriminator


def animal(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"type": "string"}, **properties},
    }


SCHEMAS: dict[str, Any] = {
    "Cat": animal(mouse={"type": "integer"}),
    "Dog": {"allOf": [{"$ref": "#/components/schemas/Animal"}, {"type": "object"}]},
    "Fox": animal(kind={"type": "string", "enum": ["vulpes"]}),
    "Animal": animal(),
}
MAPPING = {
    "cat": "#/components/schemas/Cat",
    "lion": "Cat",
    "dog": "Dog",
    "fox": "Fox",
    "gone": "#/components/schemas/Gone",
}


def pet(*names: str, mapping: Any = None, key: str = "oneOf") -> dict[str, Any]:
    discriminator = {"propertyName": "kind"} | ({"mapping": mapping} if mapping else {})
    refs = [{"$ref": f"#/components/schemas/{name}"} for name in names]
    return {key: refs, "discriminator": discriminator}


def sending(schema: Any) -> dict[str, Any]:
    return one("post", requestBody=json_body(schema), components={"schemas": SCHEMAS})


@pytest.mark.parametrize("key", ["oneOf", "anyOf"])
@pytest.mark.parametrize("mapping", [None, MAPPING], ids=["by name", "by a mapping"])
async def test_a_value_that_fits_several_open_alternatives_is_sent(mapping: Any, key: str) -> None:
    async with bench(sending(pet("Cat", "Dog", mapping=mapping, key=key))) as api:
        for value in ({"kind": "cat", "mouse": 3}, {"kind": "dog"}):
            result = await api.call(body=value)
            assert not result.is_error, result.text
            assert api.body == value


async def test_a_kind_that_the_mapping_does_not_have_is_refused_and_so_is_what_breaks_its_own() -> (
    None
):
    async with bench(sending(pet("Cat", "Dog", mapping=MAPPING))) as api:
        unknown = await api.call(body={"kind": "bird"})
        broken = await api.call(body={"kind": "lion", "mouse": "three"})

    assert unknown.is_error
    assert broken.is_error
    assert api.server.requests == []


async def test_an_answer_of_several_open_alternatives_is_given_back_and_of_an_unknown_kind() -> (
    None
):
    described = one(
        responses={
            "200": {
                "description": "fine",
                "content": {"application/json": {"schema": pet("Cat", "Dog", mapping=MAPPING)}},
            }
        },
        components={"schemas": SCHEMAS},
    )
    for kind in ("cat", "bird"):
        async with bench(described, always(json_reply({"kind": kind}))) as api:
            result = await api.call()
        assert (result.is_error, result.structured) == (False, {"kind": kind})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Cat", {"properties": {"kind": {"enum": ["cat", "lion"]}}}),
        ("Dog", {"properties": {"kind": {"enum": ["dog"]}}}),
        ("Fox", {}),
        ("Animal", {}),
        ("Gone", {}),
    ],
    ids=["two names", "by inheritance", "says it itself", "not in the mapping", "not there"],
)
def test_the_values_of_an_alternative_are_those_of_the_mapping(name: str, expected: Any) -> None:
    references = References({"": {"components": {"schemas": SCHEMAS}}})
    place = LocatedNode(node=pet(name, mapping=MAPPING))

    (item,) = place.at("oneOf").items()

    assert Discriminator(place, references).values_of(item) == expected


@pytest.mark.parametrize(
    "odd",
    [
        {"allOf": [{"$ref": "#/components/schemas/Odd"}]},
        {"allOf": [{"$ref": "#/components/schemas/Odd"}] * 50},
        {"allOf": [{"$ref": "#/components/schemas/Gone"}]},
        {"properties": {"kind": {"$ref": "#/components/schemas/Gone"}}},
    ],
    ids=[
        "refers to itself",
        "refers to itself often",
        "refers to nothing",
        "its property refers to nothing",
    ],
)
def test_of_an_odd_alternative_nothing_more_is_asked(odd: Any) -> None:
    references = References({"": {"components": {"schemas": {"Odd": odd}}}})
    place = LocatedNode(node=pet("Odd", mapping={"odd": "Odd"}))

    (item,) = place.at("oneOf").items()

    assert Discriminator(place, references).values_of(item) == {}


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"discriminator": {"propertyName": "kind"}}, True),
        ({"discriminator": "kind"}, True),
        ({"discriminator": {"mapping": {}}}, False),
        ({"discriminator": 5}, False),
        ({}, False),
    ],
)
def test_only_a_property_chooses(node: Any, expected: bool) -> None:
    assert has_discriminator(node) is expected
