from typing import Any

import jsonschema_rs

from pegboard.sources.openapi.call.arguments import (
    ArgumentPlan,
    ArgumentSettings,
    plan_arguments,
    unknown_arguments,
)
from pegboard.sources.openapi.document.lenient_access import LocatedNode
from pegboard.sources.openapi.document.operations import Operation, OperationReader
from pegboard.sources.openapi.document.references import References
from pegboard.sources.openapi.schema.translator import SchemaTranslator


def read(node: dict[str, Any], path: str = "/a") -> Operation:
    return OperationReader({}, References({"": {}})).operation(
        path, "post", LocatedNode(node={"post": node})
    )


def planned(node: dict[str, Any], path: str = "/a", **settings: Any) -> ArgumentPlan:
    made = plan_arguments(
        read(node, path),
        SchemaTranslator(References({"": {}}), sending=True, siblings=False),
        ArgumentSettings(**settings),
    )
    jsonschema_rs.Draft202012Validator(made.schema)
    return made


def parameter(name: str, location: str = "query", **rest: Any) -> dict[str, Any]:
    return {"name": name, "in": location, "schema": {"type": "string"}, **rest}


def body(**properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def test_arguments_are_closed_and_say_what_is_needed() -> None:
    node = {
        "parameters": [
            parameter("a", required=True, description=" A "),
            parameter("b", deprecated=True),
        ]
    }

    assert planned(node).schema == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "description": "A"},
            "b": {"type": "string", "deprecated": True},
        },
        "additionalProperties": False,
        "required": ["a"],
    }


def test_a_name_that_is_there_twice_belongs_to_the_nearest_place() -> None:
    node = {
        "parameters": [
            parameter("id", "cookie"),
            parameter("id", "header"),
            parameter("id"),
            parameter("id", "path"),
        ],
        "requestBody": body(id={"type": "integer"}, other={}),
    }

    made = planned(node, path="/a/{id}")

    places = {one.name: one.parameter.location for one in made.arguments}
    assert places == {
        "id": "path",
        "query_id": "query",
        "header_id": "header",
        "cookie_id": "cookie",
    }
    assert {name: one.name for name, one in made.fields.items()} == {
        "body_id": "id",
        "other": "other",
    }
    assert list(made.schema["properties"]) == [
        "id",
        "query_id",
        "header_id",
        "cookie_id",
        "body_id",
        "other",
    ]


def test_names_are_such_as_models_take() -> None:
    names = [
        "filter[x]",
        "$top",
        "X-Id",
        "_own_",
        "ü",
        "a b",
        "a.b",
        "a" * 70,
        "filter_x",
        "filter(x)",
    ]

    made = planned({"parameters": [parameter(name) for name in names]})

    assert list(made.schema["properties"]) == [
        "filter_x",
        "top",
        "X-Id",
        "_own_",
        "value",
        "a_b",
        "a.b",
        "a" * 64,
        "query_filter_x",
        "query_filter_x_2",
    ]


def test_a_body_that_is_one_argument_is_called_body() -> None:
    text = {"required": True, "content": {"text/plain": {}}}

    made = planned({"requestBody": text, "parameters": [parameter("body")]})

    assert (made.body_argument, made.schema["required"]) == ("body_body", ["body_body"])


def test_path_arguments_are_not_empty() -> None:
    node = {
        "parameters": [parameter("id", "path"), parameter("n", "path", schema={"type": "integer"})]
    }

    properties = planned(node, path="/{id}/{n}").schema["properties"]

    assert properties == {"id": {"type": "string", "minLength": 1}, "n": {"type": "integer"}}


def test_a_parameter_without_a_schema_takes_anything() -> None:
    assert planned({"parameters": [{"name": "q", "in": "query"}]}).schema["properties"] == {"q": {}}


def test_hidden_arguments_are_neither_shown_nor_needed() -> None:
    node = {
        "parameters": [parameter("a", required=True), parameter("b")],
        "requestBody": body(c={}),
    }

    made = planned(node, hidden={"a": "x", "b": None, "absent": 1}, defaults={"c": 3})

    assert made.schema["properties"] == {"c": {"default": 3}}
    assert "required" not in made.schema
    assert made.values == {"a": "x", "c": 3}
    assert unknown_arguments(
        made, ArgumentSettings(hidden={"a": 1, "absent": 1}, defaults={"body": 1})
    ) == ["absent", "body"]


def test_what_has_a_default_is_not_needed() -> None:
    made = planned({"parameters": [parameter("a", required=True)]}, defaults={"a": "x"})

    assert made.schema["properties"]["a"] == {"type": "string", "default": "x"}
    assert "required" not in made.schema


def test_what_credentials_bring_is_no_argument() -> None:
    node = {"parameters": [parameter("api_key"), parameter("X-Key", "header"), parameter("q")]}

    made = planned(node, taken={("query", "api_key"), ("header", "x-key")})

    assert list(made.schema["properties"]) == ["q"]
