"""What a caller or a document may try, against the whole way from call to wire."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.network.loopback import always, reply
from tests.sources.openapi.bench import bench, document, json_body, json_reply, one, operation

from pegboard.errors import InvalidRequest, SourceUnavailable, ToolArgumentError
from pegboard.sources.openapi.schema.definitions import MAX_SCHEMA_BYTES

ANY: dict[str, Any] = {}
EVERYWHERE = one(
    "post",
    "/files/{path}/end",
    parameters=[
        {"name": "path", "in": "path", "schema": ANY},
        {"name": "query", "in": "query", "schema": ANY},
        {"name": "X-Header", "in": "header", "schema": ANY},
        {"name": "cookie", "in": "cookie", "schema": ANY},
    ],
    requestBody=json_body({"properties": {"field": ANY}}),
)
TEXTS = [
    "a\r\nX-Admin: 1\r\n\r\nGET /admin HTTP/1.1",
    "\nX-Admin: 1",
    "\r",
    "a\0b",
    "a; admin=1",
    "a&admin=1",
    "a#b?c=d",
    "a/b\\c",
    "@evil.test:80/",
    "//evil.test/",
    "http://evil.test/",
    "\u2028\u2029\u0085",
    "%0d%0aX-Admin:1",
    "{path}${HOME}{{7*7}}",
    "\uff0f\uff0e\uff0e\uff0f",
]


@pytest.mark.parametrize("text", TEXTS, ids=repr)
@pytest.mark.parametrize("name", ["path", "query", "X-Header", "cookie", "field"])
async def test_no_text_leaves_its_place(name: str, text: str) -> None:
    async with bench(EVERYWHERE) as api:
        result = await api.call(**{"path": "p", "field": 1, name: text})

        for received in api.server.requests:
            path, _, query = received.path.partition("?")
            assert received.method == "POST"
            assert [len(path.split("/")), path.split("/")[1], path.split("/")[3]] == [
                4,
                "files",
                "end",
            ]
            assert query.count("&") == 0
            assert "x-admin" not in received.headers
            assert received.headers["host"] == api.server.authority
            assert received.headers.get("cookie", "").count(";") == 0
        assert len(api.server.requests) == (0 if isinstance(result.error, InvalidRequest) else 1)
        assert api.server.connections <= 1


@pytest.mark.parametrize("value", ["..", "../admin", "a/../../b", "%2e%2e", "..\\", ".", "..;/x"])
async def test_no_path_climbs(value: str) -> None:
    async with bench(EVERYWHERE) as api:
        result = await api.call(path=value, field=1)

        assert isinstance(result.error, InvalidRequest)
        assert api.server.requests == []


@pytest.mark.parametrize("name", ["path", "query", "X-Header", "cookie", "field"])
@pytest.mark.parametrize("value", ["\ud800", ["\udfff"], {"\ud800": 1}], ids=ascii)
async def test_half_a_surrogate_pair_never_leaves(name: str, value: Any) -> None:
    async with bench(EVERYWHERE) as api:
        result = await api.call(**{"path": "p", "field": 1, name: value})

        assert isinstance(result.error, (InvalidRequest, ToolArgumentError))
        assert api.server.requests == []


async def test_prototype_keys_are_names_like_any_other() -> None:
    keys = ("__proto__", "constructor", "__class__", "prototype")
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in keys}}
    async with bench(one("post", requestBody=json_body(schema))) as api:
        assert (await api.call(**dict.fromkeys(keys, "x"))).unwrap()
        assert api.body == dict.fromkeys(keys, "x")

    async with bench(EVERYWHERE) as api:
        result = await api.call(path="p", field=1, __proto__={"admin": True})
        assert isinstance(result.error, ToolArgumentError)
        assert api.server.requests == []


async def test_a_server_variable_is_no_argument() -> None:
    described = one() | {
        "servers": [{"url": "http://{host}", "variables": {"host": {"default": "127.0.0.1:9"}}}]
    }
    async with bench(described, base_url="") as api:
        assert api.spec().input_schema["properties"] == {}
        assert isinstance((await api.call(host="evil.test")).error, ToolArgumentError)


@pytest.mark.parametrize(
    "path",
    [
        "//evil.test/x",
        "/@evil.test/",
        "/\\evil.test",
        "/x\r\nHost: evil.test",
        "/.evil.test",
        "/%0d%0ax",
    ],
    ids=repr,
)
async def test_a_path_of_the_document_does_not_change_the_host(path: str) -> None:
    async with bench(one(path=path)) as api:
        await api.call()

        assert all(one.headers["host"] == api.server.authority for one in api.server.requests)
        assert len(api.server.requests) <= 1


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def nested(depth: int) -> Any:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}, "allOf": [{"minProperties": 0}]}
    return schema


def chained(count: int) -> dict[str, Any]:
    """Each schema names the next one twice: written out, 2^count."""
    refs = [ref(f"S{number + 1}") for number in range(count)]
    made: dict[str, Any] = {
        f"S{number}": {"type": "object", "properties": {"a": ref, "b": ref}}
        for number, ref in enumerate(refs)
    }
    return made | {f"S{count}": {"type": "object", "properties": {"end": {}}}}


def wide(count: int) -> dict[str, Any]:
    text = "x" * 900
    return {
        f"S{number}": {
            "description": text,
            "properties": {f"p{other}": ref(f"S{other}") for other in range(count)},
        }
        for number in range(count)
    }


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("schema", "schemas"),
    [
        (ref("S0"), chained(200)),
        (ref("S0"), wide(120)),
        (ref("S0"), {"S0": {"allOf": [ref("S0")]}}),
        (ref("S0"), {"S0": ref("S1"), "S1": ref("S0")}),
        ({"$ref": "#"}, {}),
        ({"$ref": "#/paths"}, {}),
        ({"$ref": "#/components/schemas/S0/properties/a/properties/b"}, chained(3)),
        (nested(90), {}),
        ({"enum": ["x" * 100_000] * 3}, {}),
    ],
    ids=[
        "doubling",
        "wide",
        "allOf itself",
        "circle",
        "document",
        "paths",
        "inside",
        "deep",
        "large enum",
    ],
)
async def test_no_schema_explodes(schema: Any, schemas: Any) -> None:
    described = one("post", requestBody=json_body(schema), components={"schemas": schemas})
    began = time.process_time()
    async with bench(described) as api:
        size = len(json.dumps(api.spec().to_dict()))
        await api.call(a={})

    assert size <= MAX_SCHEMA_BYTES * 1.2
    assert time.process_time() - began < 4


LAUGHS = "a0: &a0 [1]\n" + "\n".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}1]" for n in range(1, 30))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: &a [1]\n" + "b: [" + "*a, " * 10 + "1]", "neither 'openapi' nor 'swagger'"),
        ("a: &a [*a]\n", "a value that contains it"),
        (LAUGHS, "aliases expand to more"),
        ("{" + '"a":{' * 5000 + "}" * 5001, "nested too deep"),
        ("!!python/object/apply:os.system ['true']\n", "not valid YAML"),
    ],
    ids=["harmless", "itself", "bomb", "deep", "python"],
)
async def test_no_document_is_a_bomb(text: str, reason: str) -> None:
    with pytest.raises(SourceUnavailable, match=reason):
        async with bench(text):
            pass


async def test_a_huge_document_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(2**31)

    with pytest.raises(SourceUnavailable, match="max_document_bytes"):
        async with bench("huge.json", base_dir=tmp_path):
            pass


@pytest.mark.parametrize(
    "ref", ["../secret.yaml", "/etc/passwd", "file:///etc/passwd", "link.yaml"]
)
async def test_a_document_reads_nothing_outside_its_folder(ref: str, tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("type: string\nenum: [s3cret]")
    folder = tmp_path / "api"
    folder.mkdir()
    (folder / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    described = one(parameters=[{"name": "q", "in": "query", "schema": {"$ref": ref}}])
    (folder / "api.json").write_text(json.dumps(described))

    async with bench("api/api.json", base_dir=tmp_path) as api:
        assert "s3cret" not in json.dumps(api.spec().to_dict())
        assert "Not checked" in api.spec().input_schema["properties"]["q"]["$comment"]


async def test_no_reference_is_fetched() -> None:
    async with bench(one()) as other:
        url = f"http://{other.server.authority}/schema.json"
        described = one(parameters=[{"name": "q", "in": "query", "schema": {"$ref": url}}])
        async with bench(described, also=other.server) as api:
            assert "are not fetched" in str(api.spec().input_schema)
        assert other.server.requests == []


@pytest.mark.parametrize("broken", [3, "x", [], None, True, {"a": 1}], ids=str)
async def test_no_shape_of_a_document_breaks_the_import(broken: Any) -> None:
    keys = ("parameters", "requestBody", "responses", "tags", "security", "servers", "operationId")
    paths = {f"/{key}": {"get": operation(operationId=key) | {key: broken}} for key in keys}
    described = document(
        paths | {"/whole": broken, "/fine": {"get": operation(operationId="fine")}}
    )
    for key in ("components", "servers", "security", "tags", "info"):
        async with bench(described | {key: broken}) as api:
            assert (await api.call("fine")).unwrap()


async def test_a_credential_with_a_line_break_opens_nothing_and_is_not_shown() -> None:
    with pytest.raises(ValidationError, match="line break") as caught:
        async with bench(one(), auth={"kind": "bearer", "token": "a\r\nX-Admin: 1"}):
            pass

    assert "X-Admin" not in str(caught.value)


async def test_an_answer_that_repeats_the_credential_does_not_show_it_in_errors() -> None:
    answer = always(json_reply({"detail": "s3cret-token is wrong"}, status=401))
    async with bench(one(), answer, auth={"kind": "bearer", "token": "s3cret-token"}) as api:
        result = await api.call()

    assert "s3cret-token" not in str(result.error)
    assert "s3cret-token" not in str(result.error.__cause__ if result.error else "")


async def test_a_redirect_out_of_http_is_refused() -> None:
    moved = reply(b"", status=302, headers={"Location": "file:///etc/passwd"})
    async with bench(one(), always(moved)) as api:
        assert isinstance((await api.call()).error, InvalidRequest)


async def test_a_name_that_is_no_file_is_a_mistake_of_the_operator() -> None:
    with pytest.raises(SourceUnavailable, match="it is no file name"):
        async with bench("a\0b"):
            pass


async def test_schemas_that_multiply_are_cut_before_the_first_call() -> None:
    deep = {
        f"D{depth}": {"anyOf": [{"$ref": f"#/components/schemas/D{depth + 1}"}] * 2}
        for depth in range(14)
    }
    schemas = {**deep, "D14": {"type": "integer"}}
    body = json_body({"properties": {"x": {"$ref": "#/components/schemas/D0"}}})
    async with bench(one("post", requestBody=body, components={"schemas": schemas})) as api:
        assert "Not checked here" in str(api.spec().input_schema)
        assert (await api.call(x=1)).unwrap() == {"ok": True}
