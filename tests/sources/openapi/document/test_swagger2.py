from typing import Any

from pegboard.sources.openapi.document.lenient_access import LocatedNode
from pegboard.sources.openapi.document.operations import Operation, RequestBody
from pegboard.sources.openapi.document.references import References
from pegboard.sources.openapi.document.swagger2 import SwaggerReader


def read(parameters: list[Any], path: str = "/a", **rest: Any) -> Operation:
    consumes = {"consumes": rest.pop("consumes")} if "consumes" in rest else {}
    root = {
        "swagger": "2.0",
        "paths": {path: {"post": {"parameters": parameters, **consumes}}},
        **rest,
    }
    (found,) = SwaggerReader(root, References({"": root})).operations()
    return found


def body_of(parameters: list[Any], **rest: Any) -> RequestBody:
    found = read(parameters, **rest).body
    assert found is not None
    return found


def schema_of(body: RequestBody) -> Any:
    return next(iter(body.media.values())).fields["schema"]


def test_the_type_of_a_parameter_is_its_schema() -> None:
    described = {
        "name": "n",
        "in": "query",
        "type": "array",
        "maxItems": 3,
        "enum": [],
        "description": "D",
        "items": {"type": "string", "enum": ["a"], "collectionFormat": "csv"},
    }

    (one,) = read([described]).parameters

    assert one.description == "D"
    assert one.schema.node == {
        "type": "array",
        "maxItems": 3,
        "enum": [],
        "items": {"type": "string", "enum": ["a"]},
    }


def test_collection_formats_are_styles() -> None:
    formats = ("csv", "ssv", "tsv", "pipes", "multi", "nonsense")
    parameters = [
        {"name": one, "in": "query", "type": "array", "collectionFormat": one} for one in formats
    ]

    found = read(parameters).parameters

    assert [(one.style, one.explode) for one in found] == [
        ("form", False),
        ("spaceDelimited", False),
        ("tabDelimited", False),
        ("pipeDelimited", False),
        ("form", True),
        ("form", False),
    ]


def test_paths_and_headers_are_simple() -> None:
    parameters = [
        {"name": "id", "in": "path", "type": "string"},
        {"name": "H", "in": "header", "type": "array", "collectionFormat": "multi"},
    ]

    found = read(parameters, path="/a/{id}").parameters

    assert [(one.style, one.explode) for one in found] == [("simple", False), ("simple", False)]


def test_a_body_is_a_parameter() -> None:
    described = {
        "name": "pet",
        "in": "body",
        "required": True,
        "schema": {"$ref": "#/x"},
        "description": "D",
    }

    found = body_of([described], consumes=["application/xml", "application/json"])

    assert list(found.media) == ["application/xml", "application/json"]
    assert (found.required, found.description, schema_of(found)) == (True, "D", {"$ref": "#/x"})
    assert list(body_of([described]).media) == ["application/json"]
    assert list(body_of([described], swagger="2.0").media) == ["application/json"]


def test_fields_of_a_form_are_a_body() -> None:
    fields = [
        {"name": "a", "in": "formData", "type": "string", "required": True, "description": "A"},
        {
            "name": "b",
            "in": "formData",
            "type": "array",
            "items": {"type": "integer"},
            "collectionFormat": "multi",
        },
    ]

    found = body_of(fields)

    assert list(found.media) == ["application/x-www-form-urlencoded"]
    assert schema_of(found)["required"] == ["a"]
    assert schema_of(found)["properties"]["a"] == {"type": "string", "description": "A"}
    encoding = next(iter(found.media.values())).at("encoding").fields
    assert encoding == {"b": {"style": "form", "explode": True}}


def test_a_form_with_a_file_has_several_parts() -> None:
    file = {"name": "f", "in": "formData", "type": "file"}
    text = {"name": "t", "in": "formData", "type": "string"}
    both = ["application/x-www-form-urlencoded", "multipart/form-data"]

    assert list(body_of([file], consumes=[both[0]]).media) == ["multipart/form-data"]
    assert list(body_of([text], consumes=both).media) == both
    assert not body_of([file]).required


def test_fields_of_several_files_are_refused() -> None:
    fields = [{"$ref": "a.yaml#/F"}, {"$ref": "b.yaml#/F"}]
    root = {"paths": {"/a": {"post": {"parameters": fields}}}}
    files = {
        "": root,
        "a.yaml": {"F": {"name": "x", "in": "formData", "type": "string"}},
        "b.yaml": {"F": {"name": "y", "in": "formData", "type": "string"}},
    }

    (found,) = SwaggerReader(root, References(files)).operations()

    assert found.problem == "the fields of its form are in several files."


def test_a_response_has_the_types_that_are_produced() -> None:
    root: dict[str, Any] = {"produces": ["application/json"]}
    reader = SwaggerReader(root, References({"": root}))

    assert reader.response(LocatedNode(node={"description": "nothing"})) == ()
    ((kind, place),) = reader.response(LocatedNode(node={"schema": {"type": "string"}}))
    assert (kind, place.node) == ("application/json", {"type": "string"})


def test_security_definitions_are_told_as_openapi_3_does() -> None:
    definitions = {"b": {"type": "basic"}, "k": {"type": "apiKey", "in": "query", "name": "k"}}

    reader = SwaggerReader({"securityDefinitions": definitions}, References({"": {}}))

    assert reader.security_schemes() == {
        "b": {"type": "http", "scheme": "basic"},
        "k": {"type": "apiKey", "in": "query", "name": "k"},
    }
