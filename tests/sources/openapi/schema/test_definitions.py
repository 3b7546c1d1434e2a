from copy import deepcopy
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from pegboard.schemas.validation_cost import MAX_BRANCHES
from pegboard.sources.openapi.schema.definitions import (
    MAX_SCHEMA_BYTES,
    Definitions,
    attach_definitions,
)


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def size(schema: Any) -> int:
    return len(msgspec.json.encode(schema))


def test_a_schema_without_references_stays_as_it_is() -> None:
    schema = {"type": "object", "enum": [{"$ref": "#/$defs/not-a-reference"}]}

    assert attach_definitions(schema, Definitions({"A": {}})) == schema


@pytest.mark.parametrize(
    "definitions",
    [
        {"A": {"allOf": [ref("A")]}},
        {"A": ref("A")},
        {"A": {"anyOf": [ref("B"), {"type": "string"}]}, "B": {"oneOf": [ref("A")]}},
        {"A": {"if": ref("B"), "then": ref("C")}, "B": ref("A"), "C": {"else": ref("A")}},
        {"A": {"dependentSchemas": {"x": ref("A")}}},
        {"A": {"not": ref("A")}},
        {"A": {"allOf": [ref("B"), ref("C")]}, "B": ref("C"), "C": {"allOf": [ref("B")]}},
    ],
    ids=str,
)
def test_what_applies_itself_for_ever_is_cut(definitions: dict[str, Any]) -> None:
    result = attach_definitions({"properties": {"a": ref("A")}}, Definitions(definitions))

    assert "refers to itself" in str(result)
    validator = jsonschema_rs.Draft202012Validator(result)
    assert validator.is_valid({"a": "text"})


def test_recursion_through_properties_is_kept() -> None:
    tree = {"type": "object", "properties": {"next": {"anyOf": [ref("A"), {"type": "null"}]}}}

    assert attach_definitions(ref("A"), Definitions({"A": tree})) == {
        **ref("A"),
        "$defs": {"A": tree},
    }


def test_a_large_schema_loses_its_words_first() -> None:
    big = {
        "type": "object",
        "description": "x" * MAX_SCHEMA_BYTES,
        "properties": {"description": {"type": "string", "title": "T"}},
        "enum": [{"description": "kept"}],
    }

    result = attach_definitions({"allOf": [ref("A")]}, Definitions({"A": big}))

    assert result["$defs"]["A"] == {
        "type": "object",
        "properties": {"description": {"type": "string"}},
        "enum": [{"description": "kept"}],
    }


def test_a_huge_schema_loses_what_is_farthest() -> None:
    names = [f"N{number}" for number in range(400)]
    definitions = {
        name: {"type": "object", "properties": {"p": ref(after), "text": {"enum": ["x" * 1000]}}}
        for name, after in zip(names, [*names[1:], "N0"], strict=True)
    }

    result = attach_definitions(ref("N0"), Definitions(definitions))

    assert size(result) <= MAX_SCHEMA_BYTES
    assert "properties" in result["$defs"]["N0"]
    assert 100 < len(result["$defs"]) < 400
    jsonschema_rs.Draft202012Validator(result)


def test_a_large_schema_without_definitions_loses_its_words() -> None:
    assert attach_definitions(
        {"description": "x" * MAX_SCHEMA_BYTES, "type": "string"}, Definitions()
    ) == {"type": "string"}


def test_what_many_schemas_share_is_never_changed() -> None:
    shared = {"A": {"allOf": [ref("B")]}, "B": {"anyOf": [ref("A"), {"description": "x" * 999}]}}
    definitions, before = Definitions(shared), deepcopy(shared)

    first = attach_definitions(ref("A"), definitions)
    again = attach_definitions({"items": ref("B")}, definitions)

    assert definitions.schemas == before
    assert attach_definitions(ref("A"), definitions) == first
    assert "refers to itself" in str(again["$defs"])


@pytest.mark.parametrize("closes", [{}, {"not": ref("A0")}], ids=["tree", "loop"])
@pytest.mark.parametrize("key", ["allOf", "anyOf"])
def test_what_multiplies_itself_is_cut(key: str, closes: dict[str, Any]) -> None:
    definitions: dict[str, Any] = {
        f"A{depth}": {key: [ref(f"A{depth + 1}"), {"allOf": [ref(f"A{depth + 1}")]}]}
        for depth in range(60)
    }
    definitions["A60"] = {"type": "object", **closes}
    before = deepcopy(definitions)
    result = attach_definitions(ref("A0"), Definitions(definitions))
    counts: dict[str, int] = {}
    for depth in range(60, -1, -1):
        named = str(result["$defs"][f"A{depth}"]).count(f"'#/$defs/A{depth + 1}'")
        counts[f"A{depth}"] = 1 + named * counts.get(f"A{depth + 1}", 0)

    assert max(counts.values()) <= MAX_BRANCHES // 3
    assert counts["A50"] == 2**11 - 1
    assert definitions == before
    jsonschema_rs.validator_for(result).is_valid({"a": [None]})


def test_what_is_used_often_and_multiplies_little_stays() -> None:
    definitions = {"A": {"allOf": [ref("B")] * 50}, "B": {"anyOf": [ref("C")] * 50}, "C": {}}
    made = Definitions(definitions)

    assert attach_definitions(ref("A"), made)["$defs"] == definitions
