from typing import Any

import pytest

from pegboard.sources.openapi.document.lenient_access import LocatedNode
from pegboard.sources.openapi.document.operations import (
    Operation,
    OperationParameter,
    OperationReader,
)
from pegboard.sources.openapi.document.references import References


def read(root: dict[str, Any]) -> list[Operation]:
    return list(OperationReader(root, References({"": root})).operations())


def only(node: dict[str, Any], path: str = "/a", **rest: Any) -> Operation:
    (found,) = read({"paths": {path: {"get": node}}, **rest})
    return found


def shape(parameter: OperationParameter) -> tuple[Any, ...]:
    return (
        parameter.name,
        parameter.location,
        parameter.required,
        parameter.style,
        parameter.explode,
    )


def test_every_method_of_every_path_is_an_operation() -> None:
    methods = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
    root = {
        "paths": {
            "/a": {method: {} for method in methods},
            "x-extra": {"get": {}},
            "/b": {"x-get": {}},
        }
    }

    assert [one.method for one in read(root)] == list(methods)


def test_an_operation_says_what_the_document_says() -> None:
    node = {
        "operationId": " list ",
        "summary": "List",
        "description": "All",
        "tags": ["a", "a", 3],
        "deprecated": True,
        "security": [],
        "servers": [{"url": "https://x.test"}],
    }

    found = only(node)

    assert (found.id, found.summary, found.description) == ("list", "List", "All")
    assert (found.tags, found.deprecated, found.security) == (("a",), True, [])
    assert (found.servers, found.place) == ([{"url": "https://x.test"}], "GET /a")


def test_what_a_path_says_counts_for_its_operations() -> None:
    item = {
        "summary": "S",
        "servers": [{"url": "/v2"}],
        "parameters": [
            {"name": "x", "in": "query", "description": "of the path"},
            {"name": "y", "in": "query"},
        ],
        "get": {"parameters": [{"name": "x", "in": "query", "description": "its own"}]},
    }
    root = {"paths": {"/a": {"$ref": "#/items/0"}}, "items": [item], "security": [{"k": []}]}

    (found,) = read(root)

    assert [one.description for one in found.parameters] == ["its own", ""]
    assert (found.summary, found.security) == ("S", [{"k": []}])


def test_parameters_have_the_style_that_their_place_has_by_default() -> None:
    parameters = [
        {"name": "id", "in": "path"},
        {"name": "q", "in": "query"},
        {"name": "d", "in": "query", "style": "deepObject"},
        {"name": "p", "in": "query", "style": "pipeDelimited"},
        {"name": "e", "in": "query", "explode": False, "required": True},
        {"name": "H", "in": "header", "style": "form"},
        {"name": "c", "in": "cookie"},
    ]

    found = only({"parameters": parameters}, path="/a/{id}")

    assert [shape(one) for one in found.parameters] == [
        ("id", "path", True, "simple", False),
        ("q", "query", False, "form", True),
        ("d", "query", False, "deepObject", True),
        ("p", "query", False, "pipeDelimited", False),
        ("e", "query", True, "form", False),
        ("H", "header", False, "simple", False),
        ("c", "cookie", False, "form", True),
    ]


def test_a_parameter_with_a_content_type_has_the_schema_of_that() -> None:
    content = {"application/json": {"schema": {"type": "object"}}}

    (one,) = only({"parameters": [{"name": "f", "in": "query", "content": content}]}).parameters

    assert (one.content_type, one.schema.node) == ("application/json", {"type": "object"})


def test_headers_of_credentials_and_content_are_no_parameters() -> None:
    names = ("Accept", "content-type", "Authorization", "X-Trace")
    parameters = [{"name": name, "in": "header"} for name in names]

    assert [one.name for one in only({"parameters": parameters}).parameters] == ["X-Trace"]


def test_path_parameters_are_those_that_the_path_names() -> None:
    described = [{"name": "gone", "in": "path"}]

    (one,) = only({"parameters": described}, path="/a/{id}/{id}").parameters

    assert (shape(one), one.schema.node) == (
        ("id", "path", True, "simple", False),
        {"type": "string"},
    )


def test_what_cannot_be_read_is_the_problem_of_its_operation_alone() -> None:
    root = {
        "paths": {
            "/a": {"get": {"parameters": [{"$ref": "#/gone"}]}},
            "/b": {"get": {"parameters": [{"name": "x", "in": "nowhere"}]}},
            "/c": {"post": {"requestBody": {"$ref": "#/gone"}}},
            "/d": {"$ref": "#/gone"},
            "/e": {"get": {"parameters": "none", "requestBody": {"content": []}, "tags": "x"}},
            "/f": 3,
            "/g": {"get": 3},
        }
    }

    assert {one.path: one.problem for one in read(root)} == {
        "/a": "$ref '#/gone' leads to nothing.",
        "/b": "a parameter 'x' in 'nowhere' has no known location.",
        "/c": "$ref '#/gone' leads to nothing.",
        "/d": "Its path item: $ref '#/gone' leads to nothing.",
        "/e": "",
    }


def test_a_body_has_its_types_in_order() -> None:
    content = {" text/plain ": {"schema": {}}, "application/json": {}, "nonsense": {}}
    node = {"requestBody": {"$ref": "#/bodies/one"}}
    bodies = {"one": {"content": content, "required": True, "description": "D"}}

    found = only(node, bodies=bodies).body

    assert found is not None
    assert (list(found.media), found.required, found.description) == (
        ["text/plain", "application/json"],
        True,
        "D",
    )
    assert only({"requestBody": {"content": {"nonsense": {}}}}).body is None


def test_a_response_has_its_types() -> None:
    root: dict[str, Any] = {"r": {"content": {"application/json": {"schema": {"type": "string"}}}}}

    found = OperationReader(root, References({"": root})).response(
        LocatedNode(node={"$ref": "#/r"})
    )

    assert [(kind, place.node) for kind, place in found] == [
        ("application/json", {"type": "string"})
    ]


@pytest.mark.parametrize(
    "path", ["/..", "/../admin", "/a/%2e%2e/b", "/a/%252e./b", "/./a", "/a/..;x/b"]
)
def test_a_path_that_climbs_out_of_the_address_is_a_problem(path: str) -> None:
    assert "would lead out" in only({}, path=path).problem


@pytest.mark.parametrize("path", ["/a..b", "/a.json", "/{id}/.well-known", "/v1.0/x"])
def test_dots_within_a_name_are_fine(path: str) -> None:
    assert only({}, path=path).problem == ""


def test_security_schemes_may_refer_to_each_other() -> None:
    schemes = {"a": {"type": "apiKey"}, "b": {"$ref": "#/components/securitySchemes/a"}, "c": 3}
    root: dict[str, Any] = {"components": {"securitySchemes": schemes}}

    found = OperationReader(root, References({"": root})).security_schemes()

    assert found == {"a": {"type": "apiKey"}, "b": {"type": "apiKey"}, "c": {}}
