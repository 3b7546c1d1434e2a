"""The definition of a tool as data."""

import json
from types import MappingProxyType
from typing import Any

import pytest

from pegboard.core.tool import Effect, Limits, Retry, ToolSpec
from pegboard.schemas.tool_definition import (
    definition_digest,
    definition_of,
    digest_of,
    spec_of,
)

FIELDS: dict[str, Any] = {
    "input_schema": {"type": "object"},
    "capabilities": ("search",),
    "dependencies": ("fetch_v1",),
    "scopes": ("read",),
    "tags": ("a", "b"),
}


def spec(**changes: Any) -> ToolSpec:
    return ToolSpec(name="t", **(FIELDS | changes))


def test_a_definition_makes_the_same_spec_again() -> None:
    made = spec(
        retry=Retry(max_retries=1, on=("busy", ValueError)),
        limits=Limits(rate=2.0),
        tags=("b", "a"),
        scopes=("s",),
        input_schema={"type": "object", "properties": {"z": {}, "a": {}}},
    )
    definition = json.loads(json.dumps(definition_of(made)))

    again = spec_of(definition)

    assert definition_of(again) == definition
    assert digest_of(definition) == definition_digest(again) == definition_digest(made)
    assert list(again.input_schema["properties"]) == ["z", "a"]
    assert again.tags == ("a", "b")


def test_a_definition_of_an_older_kind_has_defaults_for_what_it_does_not_name() -> None:
    again = spec_of({"name": "shop__find", "input_schema": {"type": "object"}, "unheard": 1})

    assert (again.effect, again.scopes, again.retry) == (Effect.WRITE, (), None)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"z": {"enum": [1, 2.5, True, None]}, "a": {}}},
        MappingProxyType({"type": "object", "$defs": MappingProxyType({"b": {}, "a": {}})}),
        {"type": "object", "x": {2: "two", 1: ("a", "b")}},
    ],
    ids=["plain", "frozen", "keys that are no text"],
)
def test_a_digest_is_that_of_the_definition_as_json(schema: Any) -> None:
    made = spec(input_schema=schema, retry=Retry(on=("busy", ValueError)), timeout=5)

    assert definition_digest(made) == digest_of(definition_of(made))
