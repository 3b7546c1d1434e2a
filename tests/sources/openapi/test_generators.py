"""Documents as real generators write them, from the document to the wire."""

import email
import email.policy
from typing import Any
from urllib.parse import unquote

import pytest
from tests.network.loopback import Received
from tests.sources.openapi.bench import bench, document, json_body, one, operation

from pegboard.core.tool import JsonSchema
from pegboard.sources.openapi.document.lenient_access import LocatedNode
from pegboard.sources.openapi.document.references import References
from pegboard.sources.openapi.document.server_urls import BadServerUrl, server_url
from pegboard.sources.openapi.schema.translator import SchemaTranslator

TEXT = {"type": "string"}
BINARY = {"type": "string", "format": "binary"}
NEWER = {"type": "string", "contentMediaType": "application/octet-stream"}
NULL = {"type": "null"}
FORM = "application/x-www-form-urlencoded"


def body(properties: dict[str, Any], *types: str, **rest: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"required": True, "content": {name: {"schema": schema, **rest} for name in types}}


def parts(received: Received) -> dict[str, tuple[str | None, str]]:
    raw = f"Content-Type: {received.headers['content-type']}\r\n\r\n".encode() + received.body
    message = email.message_from_bytes(raw, policy=email.policy.HTTP)
    return {
        str(part.get_param("name", header="content-disposition")): (
            part.get_filename(),
            str(part.get_payload()),
        )
        for part in message.iter_parts()
    }


def properties_of(schema: JsonSchema) -> dict[str, Any]:
    return schema["properties"]


# files


@pytest.mark.parametrize("key", ["anyOf", "oneOf"])
@pytest.mark.parametrize("file", [BINARY, NEWER], ids=["3.0", "3.1"])
async def test_fastapi_lets_a_file_be_left_out(file: dict[str, Any], key: str) -> None:
    several = {"type": "array", "items": file}
    fields = {
        "one": {key: [file, NULL]},
        "more": {key: [several, NULL]},
        "note": {key: [TEXT, NULL]},
    }
    described = one("post", requestBody=body(fields, "multipart/form-data"))
    async with bench(described) as api:
        result = await api.call(
            one={"text": "x", "name": "a.txt"}, more=[{"base64": "eQ=="}], note="n"
        )

        assert not result.is_error, result.text
        assert parts(api.last) == {
            "one": ("a.txt", "x"),
            "more": ("more", "y"),
            "note": (None, "n"),
        }


async def test_a_file_of_an_optional_body_is_sent_as_a_file() -> None:
    schema = {"type": "object", "properties": {"f": BINARY, "n": TEXT}, "required": ["f"]}
    optional = {"content": {"multipart/form-data": {"schema": schema}}}
    async with bench(one("post", requestBody=optional)) as api:
        without = await api.call()
        sent_nothing = api.last.body == b""
        result = await api.call(body={"f": {"base64": "eQ==", "name": "y.bin"}, "n": "note"})

        assert (without.is_error, result.is_error, sent_nothing) == (False, False, True)
        assert parts(api.last) == {"f": ("y.bin", "y"), "n": (None, "note")}
        assert (await api.call(body={"f": "text"})).is_error


async def test_drf_spectacular_offers_types_that_hold_no_file_first() -> None:
    types = ("application/json", FORM, "multipart/form-data")
    for field in (BINARY, {"type": "array", "items": BINARY}):
        described = one("post", requestBody=body({"f": field, "n": TEXT}, *types))
        async with bench(described) as api:
            file = {"text": "x"}
            await api.call(f=[file] if "items" in field else file, n="a")

            assert parts(api.last) == {"f": ("f", "x"), "n": (None, "a")}


@pytest.mark.parametrize(
    ("fields", "types", "expected"),
    [
        ({"n": TEXT}, ("multipart/form-data", "application/json"), "application/json"),
        ({"f": BINARY}, ("application/json", FORM), "application/json"),
        ({"f": BINARY}, (FORM, "multipart/form-data"), "multipart/form-data"),
    ],
    ids=["no file", "nothing else", "a form"],
)
async def test_parts_are_taken_before_json_for_files_alone(
    fields: dict[str, Any], types: tuple[str, ...], expected: str
) -> None:
    async with bench(one("post", requestBody=body(fields, *types))) as api:
        is_parts = expected.startswith("multipart")
        await api.call(**dict.fromkeys(fields, {"text": "x"} if is_parts else "x"))

        assert api.last.headers["content-type"].startswith(expected)


# queries and forms


async def test_springdoc_sorts_a_page_by_several_fields() -> None:
    page = {
        "type": "object",
        "properties": {"page": {"type": "integer"}, "sort": {"type": "array", "items": TEXT}},
    }
    given = {"name": "pageable", "in": "query", "required": True, "schema": page}
    async with bench(one(parameters=[given])) as api:
        await api.call(pageable={"page": 0, "sort": ["name,asc", "id"]})

        assert api.query == [("page", "0"), ("sort", "name,asc"), ("sort", "id")]


DEEP = {"style": "deepObject", "explode": True}


async def test_stripe_counts_the_items_of_deep_arrays() -> None:
    items = {"type": "array", "items": {"type": "object", "properties": {"price": TEXT}}}
    expand = {"type": "array", "items": TEXT}
    described = one(
        "post",
        parameters=[{"name": "expand", "in": "query", "schema": expand, **DEEP}],
        requestBody=body({"items": items, "expand": expand}, FORM, encoding={"items": DEEP}),
    )
    async with bench(described) as api:
        await api.call(expand=["a", "b"], items=[{"price": "p"}, {"price": "q"}], body_expand=["c"])

        assert api.query == [("expand[0]", "a"), ("expand[1]", "b")]
        assert unquote(api.last.body.decode()) == "items[0][price]=p&items[1][price]=q&expand=c"


# schemas


NULLABLE = [
    {"allOf": [{"$ref": "#/components/schemas/E"}], "nullable": True},
    {"oneOf": [{"$ref": "#/components/schemas/E"}], "nullable": True},
    {"type": "string", "allOf": [{"$ref": "#/components/schemas/E"}], "nullable": True},
    {"type": "string", "anyOf": [{"$ref": "#/components/schemas/E"}], "nullable": True},
    {"enum": ["a"], "allOf": [{"$ref": "#/components/schemas/E"}], "nullable": True},
    {"$ref": "#/components/schemas/E", "nullable": True},
    {"type": "string", "enum": ["a", None], "nullable": True},
    {"type": "string", "enum": ["a"], "x-nullable": True},
]


@pytest.mark.parametrize("schema", NULLABLE, ids=str)
async def test_what_may_be_null_takes_null_and_nothing_else_besides(schema: Any) -> None:
    components = {"schemas": {"E": {"type": "string", "enum": ["a", "b"]}}}
    wanted = json_body({"properties": {"e": schema}})
    described = one("post", components=components, requestBody=wanted)
    async with bench(described) as api:
        for value in (None, "a"):
            await api.call(e=value)
            assert api.body == {"e": value}
        assert (await api.call(e="c")).is_error


@pytest.mark.parametrize("is_inline", [True, False], ids=["beside it", "in a part"])
async def test_nswag_requires_in_one_part_what_another_has_read_only(is_inline: bool) -> None:
    more = {"required": ["id", "name"], "properties": {"name": TEXT}}
    parents: list[Any] = [{"$ref": "#/components/schemas/Entity"}]
    dog = {"allOf": parents, **more} if is_inline else {"allOf": [*parents, more]}
    schemas = {
        "Root": {"properties": {"id": {**TEXT, "readOnly": True}}},
        "Entity": {"allOf": [{"$ref": "#/components/schemas/Root"}]},
        "Dog": dog,
    }
    wanted = json_body({"properties": {"dog": {"$ref": "#/components/schemas/Dog"}}})
    async with bench(one("post", components={"schemas": schemas}, requestBody=wanted)) as api:
        await api.call(dog={"name": "Rex"})

        assert api.body == {"dog": {"name": "Rex"}}
        assert "dog.name: missing" in (await api.call(dog={})).text


def test_what_is_inherited_through_thousands_of_models_ends() -> None:
    chain: dict[str, Any] = {f"C{n}": {"allOf": [{"$ref": f"#/C{n + 1}"}]} for n in range(3000)}
    chain["C3"]["properties"] = {"id": {**TEXT, "readOnly": True}}
    first = {**chain["C0"], "required": ["id", "name"]}
    schemas = SchemaTranslator(References({"": chain}), sending=True, siblings=False)

    assert schemas.translate(LocatedNode(node=first))["required"] == ["name"]


# addresses


@pytest.mark.parametrize(
    ("url", "variables", "expected"),
    [
        ("https://a.test/{basePath}", {"basePath": {"default": "/prod"}}, "https://a.test/prod"),
        ("https://a.test/{basePath}", {"basePath": {"default": "prod"}}, "https://a.test/prod"),
        ("https://a.test{basePath}", {"basePath": {"default": "/prod"}}, "https://a.test/prod"),
        ("https://a.test/{basePath}", {"basePath": {"default": ""}}, "https://a.test"),
        ("https://{host}/v1", {"host": {"default": "a.test"}}, "https://a.test/v1"),
    ],
)
def test_aws_begins_a_base_path_with_a_slash(url: str, variables: Any, expected: str) -> None:
    assert server_url([{"url": url, "variables": variables}], 0, {}, "") == expected


def test_a_variable_without_a_default_is_asked_for() -> None:
    for about in ({}, {"default": None}):
        with pytest.raises(BadServerUrl, match="Set server_variables"):
            server_url([{"url": "https://{h}/", "variables": {"h": about}}], 0, {}, "")


async def test_a_path_without_its_slash_is_a_tool_that_says_so() -> None:
    paths = {
        "things": {"get": operation()},
        "": {"get": operation(operationId="root")},
        "x-extension": {"get": operation(operationId="no")},
        "/a/": {"get": operation(operationId="slash")},
    }
    async with bench(document(paths)) as api:
        assert api.registry.names() == ("api__op", "api__root", "api__slash")
        for action in ("op", "root"):
            assert api.spec(action).unavailable.startswith("Its path does not begin with '/'")
        await api.call("slash")
        assert api.last.path == "/a/"
