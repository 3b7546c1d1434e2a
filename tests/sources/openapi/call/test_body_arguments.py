from typing import Any

import pytest

from pegboard.sources.openapi.call.body_arguments import (
    FILE_SCHEMA,
    BodyPlan,
    best_type,
    body_kind,
    plan_body,
)
from pegboard.sources.openapi.document.lenient_access import LocatedNode
from pegboard.sources.openapi.document.operations import RequestBody
from pegboard.sources.openapi.document.references import References
from pegboard.sources.openapi.schema.translator import SchemaTranslator

NAME = {"name": {"type": "string"}}
OBJECT = {"type": "object", "properties": NAME}


def planned(
    schema: Any,
    *,
    kind: str = "application/json",
    required: bool = True,
    wanted: str = "",
    encoding: Any = None,
    **schemas: Any,
) -> BodyPlan:
    references = References({"": {"components": {"schemas": schemas}}})
    media = LocatedNode(node={"schema": schema, "encoding": encoding or {}})
    body = RequestBody(media={kind: media}, required=required, description="The body")
    return plan_body(body, SchemaTranslator(references, sending=True, siblings=False), wanted)


def names(plan: BodyPlan) -> list[str] | None:
    return None if plan.fields is None else [field.name for field in plan.fields]


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        ("application/json", "json"),
        ("application/vnd.api+json; charset=utf-8", "json"),
        ("*/*", "json"),
        ("application/x-www-form-urlencoded", "form"),
        ("multipart/form-data", "multipart"),
        ("text/csv", "text"),
        ("application/xml", "text"),
        ("image/svg+xml", "text"),
        ("application/octet-stream", "file"),
        ("image/*", "file"),
    ],
)
def test_a_content_type_says_how_a_body_is_written(content_type: str, kind: str) -> None:
    assert body_kind(content_type) == kind


def test_json_is_better_than_forms_and_those_than_text() -> None:
    assert (
        best_type({"text/plain": 0, "multipart/form-data": 0, "application/json": 0})
        == "application/json"
    )
    assert best_type({"text/plain": 0, "multipart/form-data": 0}) == "multipart/form-data"
    assert best_type({"image/png": 0}) == "image/png"


@pytest.mark.parametrize(
    "schema",
    [
        OBJECT,
        {"properties": NAME},
        {**OBJECT, "additionalProperties": False, "x-internal": True},
        {"allOf": [OBJECT, {"required": ["name"]}, {"properties": {}}]},
        {"allOf": [ref("Named")]},
        ref("Named"),
    ],
    ids=str,
)
def test_a_plain_object_is_told_as_its_properties(schema: Any) -> None:
    assert names(planned(schema, Named=OBJECT)) == ["name"]


@pytest.mark.parametrize(
    "schema",
    [
        {**OBJECT, "additionalProperties": {"type": "string"}},
        {**OBJECT, "additionalProperties": True},
        {**OBJECT, "oneOf": [{"required": ["name"]}]},
        {**OBJECT, "minProperties": 1},
        {**OBJECT, "nullable": True},
        {**OBJECT, "type": ["object", "null"]},
        {**OBJECT, "discriminator": {"propertyName": "name"}},
        {**OBJECT, "required": ["absent"]},
        {"allOf": [OBJECT, OBJECT]},
        {"allOf": [OBJECT], "additionalProperties": False},
        {"type": "object"},
        {"type": "array", "items": OBJECT},
        {"type": "string"},
        ref("Loop"),
        {},
    ],
    ids=str,
)
def test_any_other_body_is_one_argument(schema: Any) -> None:
    assert names(planned(schema, Loop={"allOf": [ref("Loop")]})) is None


def test_a_body_that_may_be_absent_keeps_its_required_properties_together() -> None:
    needed = {**OBJECT, "required": ["name"]}

    assert names(planned(needed, required=False)) is None
    assert names(planned(needed)) == ["name"]
    assert names(planned(OBJECT, required=False)) == ["name"]


def test_read_only_properties_are_not_asked_for() -> None:
    schema = {"properties": {"id": {"readOnly": True}, **NAME}, "required": ["id", "name"]}

    plan = planned(schema)

    assert plan.fields is not None
    assert [(one.name, one.required) for one in plan.fields] == [("name", True)]


@pytest.mark.parametrize(
    ("schema", "closed"),
    [
        ({**OBJECT, "minProperties": 1}, True),
        ({"allOf": [OBJECT, OBJECT]}, True),
        ({**OBJECT, "anyOf": [{"required": ["name"]}]}, True),
        ({"oneOf": [OBJECT, {"properties": {"b": {}}}]}, True),
        ({"oneOf": [OBJECT, {"type": "object"}]}, False),
        ({"allOf": [OBJECT, {"additionalProperties": True}], "minProperties": 1}, False),
        ({"oneOf": [OBJECT, {"type": "string"}]}, False),
        ({**OBJECT, "discriminator": {}}, False),
        ({"type": "object"}, False),
        ({"type": "array"}, False),
        (ref("Loop"), False),
    ],
    ids=str,
)
def test_a_body_that_names_its_properties_takes_no_others(schema: Any, closed: bool) -> None:
    plan = planned(schema, Loop={"allOf": [ref("Loop"), OBJECT]})

    assert plan.schema.get("unevaluatedProperties") == (False if closed else None)
    assert plan.schema["description"] == "The body"


def test_text_and_files_are_what_they_are() -> None:
    assert planned({"type": "string"}, kind="text/csv").schema["type"] == "string"

    alone = planned({}, kind="image/png").schema["properties"]
    assert sorted(alone) == ["base64", "content_type", "text"]
    assert alone["content_type"] == {"enum": ["image/png"]}
    assert "pattern" in planned({}, kind="image/*").schema["properties"]["content_type"]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("*/*", "application/json"),
        ("text/*", "text/plain"),
        ("image/*", "application/octet-stream"),
        ("image/png", "image/png"),
    ],
)
def test_a_wildcard_is_sent_as_a_type(given: str, sent: str) -> None:
    assert planned({}, kind=given).content_type == sent


def test_an_operator_chooses_among_the_types() -> None:
    media = {"application/json": LocatedNode(node={}), "text/csv": LocatedNode(node={})}
    schemas = SchemaTranslator(References({"": {}}), sending=True, siblings=False)

    assert plan_body(RequestBody(media=media), schemas, "text/csv").kind == "text"
    assert plan_body(RequestBody(media=media), schemas, "text/none").kind == "json"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "format": "binary"},
        {"type": "file"},
        {"contentMediaType": "image/png"},
        {"type": "string", "contentMediaType": "application/octet-stream"},
    ],
    ids=str,
)
def test_files_of_a_form_are_files(schema: Any) -> None:
    properties = {
        "f": {**schema, "description": "Photo."},
        "fs": {"type": "array", "items": schema},
    }
    plan = planned({"properties": properties}, kind="multipart/form-data")

    assert plan.fields is not None
    one, many = plan.fields
    assert one.schema["properties"] == FILE_SCHEMA["properties"]
    assert one.schema["description"].startswith("Photo.")
    assert many.schema == {"type": "array", "items": FILE_SCHEMA}


def test_a_form_knows_how_its_fields_are_written() -> None:
    encoding = {"name": {"style": "deepObject"}}

    plan = planned(OBJECT, kind="application/x-www-form-urlencoded", encoding=encoding)

    assert plan.fields is not None
    assert plan.encodings == {"name": {"style": "deepObject"}}
    assert plan.fields[0].encoding == {"style": "deepObject"}


@pytest.mark.parametrize("key", ["allOf", "anyOf"])
@pytest.mark.parametrize("last", [{"type": "object"}, {"$ref": "#/components/schemas/S0"}])
def test_schemas_within_schemas_are_looked_at_once_each(key: str, last: Any) -> None:
    schemas: dict[str, Any] = {
        f"S{depth}": {key: [{"$ref": f"#/components/schemas/S{depth + 1}"}] * 30}
        for depth in range(7)
    }
    plan = planned({"$ref": "#/components/schemas/S0"}, **schemas, S7={key: [last] * 30})

    assert plan.fields is None
    assert "unevaluatedProperties" not in plan.schema
