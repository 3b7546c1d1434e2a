from typing import Any

import jsonschema_rs
import pytest

from pegboard.sources.openapi.document.lenient_access import LocatedNode
from pegboard.sources.openapi.document.references import References
from pegboard.sources.openapi.schema.translator import (
    SchemaTranslator,
    accepts_anything,
    has_type,
    media_schema,
)


def made(schema: Any, *, sending: bool = True, siblings: bool = False, **schemas: Any) -> Any:
    references = References({"": {"components": {"schemas": schemas}}})
    translator = SchemaTranslator(references, sending=sending, siblings=siblings)
    result = translator.make_standalone(translator.translate(LocatedNode(node=schema)))
    jsonschema_rs.Draft202012Validator(result)
    return result


def ref(name: str, **beside: Any) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}", **beside}


PET = {"type": "object", "properties": {"name": {"type": "string"}}}


def test_what_is_shared_is_defined_once_and_only_when_used() -> None:
    result = made({"items": [ref("Pet"), ref("Pet")]}, Pet=PET, Unused=PET)

    assert result == {
        "prefixItems": [{"$ref": "#/$defs/Pet"}, {"$ref": "#/$defs/Pet"}],
        "$defs": {"Pet": PET},
    }


def test_a_plain_value_stands_where_it_is_used() -> None:
    assert made(ref("Id"), Id={"type": "string", "nullable": True}) == {"type": ["string", "null"]}


def test_a_recursive_schema_stays_recursive() -> None:
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": ref("Tree")}}}

    result = made(ref("Tree"), Tree=tree)

    assert result["$ref"] == "#/$defs/Tree"
    validator = jsonschema_rs.Draft202012Validator(result)
    assert validator.is_valid({"children": [{"children": []}]})
    assert not validator.is_valid({"children": [{"children": [3]}]})


def test_names_of_definitions_are_legible_and_never_shared() -> None:
    result = made(
        {"allOf": [ref("a~1b"), ref("a b"), {"$ref": "#/components/schemas/%C3%BC"}]},
        **dict[str, Any]({"a/b": PET, "a b": PET, "ü": PET}),
    )

    assert [part["$ref"] for part in result["allOf"]] == [
        "#/$defs/a_1b",
        "#/$defs/a_b",
        "#/$defs/schema",
    ]


def test_two_definitions_of_one_name_are_told_apart() -> None:
    files = {"": {}, "a.yaml": {"Pet": PET}, "b.yaml": {"Pet": {**PET, "required": ["name"]}}}
    translator = SchemaTranslator(References(files), sending=True, siblings=False)
    schema = {"anyOf": [{"$ref": "a.yaml#/Pet"}, {"$ref": "b.yaml#/Pet"}]}

    result = translator.make_standalone(translator.translate(LocatedNode(node=schema)))

    assert sorted(result["$defs"]) == ["Pet_3cdceba7", "Pet_5c95af05"]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            ref("Missing"),
            {"$comment": "Not checked: $ref '#/components/schemas/Missing' leads to nothing."},
        ),
        (
            ref("Loop"),
            {"$comment": "Not checked: $ref '#/components/schemas/Loop' leads in a circle."},
        ),
        (
            {"$ref": "https://x.test/a"},
            {
                "$comment": "Not checked: $ref 'https://x.test/a' leads to another address, and "
                "references are not fetched."
            },
        ),
        (
            {"type": "string", "pattern": "("},
            {"type": "string", "$comment": 'Not checked, for it is broken: pattern "(".'},
        ),
        (
            {"patternProperties": {"(": {}, "^a": {"type": "string"}}},
            {
                "patternProperties": {"^a": {"type": "string"}},
                "$comment": "Not checked, for it is broken: patternProperties '('.",
            },
        ),
    ],
)
def test_what_is_broken_is_named_where_it_stood(schema: Any, expected: Any) -> None:
    assert made(schema, Loop=ref("Loop")) == expected


def test_siblings_of_a_reference_count_since_3_1() -> None:
    beside = ref("Pet", description="Mine", minProperties=1)
    both = ref("Pet", properties={"age": {"type": "integer"}})

    assert "minProperties" not in made(beside, Pet=PET)
    assert made(beside, siblings=True, Pet=PET) == {
        "$ref": "#/$defs/Pet",
        "description": "Mine",
        "minProperties": 1,
        "$defs": {"Pet": PET},
    }
    assert made(both, siblings=True, Pet=PET)["properties"] == {"age": {"type": "integer"}}
    assert made(ref("Id", type="string", maxLength=3), siblings=True, Id={"type": "string"}) == {
        "allOf": [{"type": "string"}, {"type": "string", "maxLength": 3}]
    }


def test_a_reference_beside_nullable_takes_null() -> None:
    result = made(ref("Pet", nullable=True, description="Or none"), Pet=PET)

    assert result["anyOf"] == [{"$ref": "#/$defs/Pet"}, {"type": "null"}]
    assert result["description"] == "Or none"


SECRET = {
    "type": "object",
    "required": ["id", "password", "linked"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "password": {"type": "string", "writeOnly": True},
        "linked": {"$ref": "#/components/schemas/Id"},
    },
}


@pytest.mark.parametrize(
    ("sending", "names"), [(True, ["password"]), (False, ["id", "linked"])], ids=["out", "in"]
)
def test_properties_of_the_other_direction_are_left_out(sending: bool, names: list[str]) -> None:
    result = made(SECRET, sending=sending, Id={"type": "string", "readOnly": True})

    assert sorted(result["properties"]) == names
    assert sorted(result["required"]) == names


def test_every_keyword_that_holds_schemas_is_followed() -> None:
    schema = {
        "allOf": [ref("Id"), False, 3],
        "anyOf": [],
        "oneOf": [True],
        "not": {"type": "int"},
        "if": {},
        "then": True,
        "else": False,
        "contains": ref("Id"),
        "propertyNames": {"pattern": "^a"},
        "additionalProperties": ref("Id"),
        "unevaluatedItems": False,
        "items": [ref("Id")],
        "dependencies": {"a": ref("Id"), "b": ["c"]},
        "dependentSchemas": {"d": {"required": ["e"]}},
        "patternProperties": {"^x": ref("Id")},
        "properties": {"p": ref("Id"), "q": 3, "__proto__": {"type": "string"}},
    }
    one = {"type": "integer"}

    assert made(schema, Id=one) == {
        "allOf": [one, {"not": {}}],
        "oneOf": [{}],
        "not": {"type": "integer"},
        "if": {},
        "then": True,
        "else": False,
        "contains": one,
        "propertyNames": {"pattern": "^a"},
        "additionalProperties": one,
        "unevaluatedItems": False,
        "prefixItems": [one],
        "dependentRequired": {"b": ["c"]},
        "dependentSchemas": {"a": one, "d": {"required": ["e"]}},
        "patternProperties": {"^x": one},
        "properties": {"p": one, "q": {}, "__proto__": {"type": "string"}},
    }


def test_what_is_nested_too_deep_ends() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(300):
        schema = {"type": "array", "items": schema}

    assert "What is nested deeper" in str(made(schema))


def test_items_may_be_a_schema_or_a_boolean() -> None:
    assert made({"items": {"type": "int"}}) == {"items": {"type": "integer"}}
    assert made({"items": False}) == {"items": {"not": {}}}
    assert made({"items": []}) == {}


def test_questions_about_schemas() -> None:
    assert has_type(LocatedNode(node={"type": ["string", "null"]}), "string")
    assert not has_type(LocatedNode(node={"type": "string"}), "array")
    assert accepts_anything({"description": "any"})
    assert not accepts_anything({"type": "string"})
    assert media_schema(LocatedNode(node={"schema": {"type": "string"}})).node == {"type": "string"}
    assert media_schema(LocatedNode(node={})).node == {}
    broken = SchemaTranslator(References({"": {}}), sending=True, siblings=False)
    assert broken.resolve(LocatedNode(node={"$ref": "#/x"})).node == {}


@pytest.mark.parametrize("order", [("Pet", "Tag"), ("Tag", "Pet")], ids="-".join)
def test_what_one_tool_is_shown_does_not_hang_on_what_others_were(order: tuple[str, str]) -> None:
    document = {
        "components": {"schemas": {"Pet": {**PET, "items": ref("Tag")}, "Tag": {"allOf": [PET]}}},
        "definitions": {"Tag": {"properties": {"pet": ref("Pet")}}},
    }
    shared = SchemaTranslator(References({"": document}), sending=True, siblings=False)
    wanted = {"items": {"$ref": "#/definitions/Tag"}}
    for name in order:
        shared.make_standalone(shared.translate(LocatedNode(node=ref(name))))

    result = shared.make_standalone(shared.translate(LocatedNode(node=wanted)))

    fresh = SchemaTranslator(References({"": document}), sending=True, siblings=False)
    assert result == fresh.make_standalone(fresh.translate(LocatedNode(node=wanted)))
    assert result["items"] == {"$ref": "#/$defs/Tag_2"}
    assert sorted(result["$defs"]) == ["Pet", "Tag", "Tag_2"]


def test_what_many_tools_share_is_made_and_kept_once() -> None:
    document = {"components": {"schemas": {"Pet": PET}}}
    shared = SchemaTranslator(References({"": document}), sending=True, siblings=False)

    first, second = (
        shared.make_standalone(
            shared.translate(LocatedNode(node={"items": ref("Pet"), "title": title}))
        )
        for title in "ab"
    )

    assert first["$defs"]["Pet"] is second["$defs"]["Pet"]
