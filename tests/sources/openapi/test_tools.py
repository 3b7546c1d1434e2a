import json
from typing import Any

import pytest
from tests.network.loopback import Received, always, reply, serving
from tests.sources.openapi.bench import (
    OK,
    bench,
    document,
    json_body,
    json_reply,
    one,
    operation,
)

from pegboard.core.tool import Effect, Status
from pegboard.errors import InvalidRequest, ToolArgumentError, ToolFailed, Unavailable
from pegboard.sources.openapi.actions import written_by_hand
from pegboard.sources.openapi.client import check_arguments
from pegboard.sources.openapi.config import Action

TEXT = {"type": "string"}
BEARER = {"kind": "bearer", "token": "s3cret-token"}


def parameter(name: str, place: str = "query", **rest: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": TEXT, **rest}


async def test_a_call_becomes_a_request_and_its_answer_a_result() -> None:
    node = {
        "parameters": [
            parameter("id", "path"),
            parameter("verbose"),
            parameter("X-Trace", "header"),
        ],
        "requestBody": json_body({"type": "object", "properties": {"note": TEXT}}),
    }
    async with bench(one("post", "/orders/{id}", **node)) as api:
        result = await api.call(id="a b", verbose="yes", note="hi", **{"X-Trace": "t"})

        assert result.unwrap() == {"ok": True}
        assert (api.last.method, api.last.path) == ("POST", "/orders/a%20b?verbose=yes")
        assert api.body == {"note": "hi"}
        assert api.last.headers["x-trace"] == "t"
        assert api.last.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"n": "many"},
        {"n": 0},
        {"n": 3, "unknown": 1},
        {"n": 3, "__proto__": {}},
        {"n": 3, "tags": "a"},
        {"n": 3, "kind": "c"},
        {"n": None},
    ],
    ids=str,
)
async def test_a_wrong_call_never_leaves_the_process(arguments: dict[str, Any]) -> None:
    node = {
        "parameters": [parameter("n", required=True, schema={"type": "integer", "minimum": 1})],
        "requestBody": json_body(
            {
                "properties": {
                    "tags": {"type": "array", "maxItems": 2, "items": TEXT},
                    "kind": {"enum": ["a", "b"]},
                }
            }
        ),
    }
    async with bench(one("post", **node)) as api:
        result = await api.call(**arguments)

        assert isinstance(result.error, ToolArgumentError)
        assert api.server.requests == []


@pytest.mark.parametrize(
    ("method", "effect", "idempotent", "retries"),
    [
        ("get", Effect.READ, True, 2),
        ("head", Effect.READ, True, 2),
        ("options", Effect.READ, True, 2),
        ("put", Effect.WRITE, True, 2),
        ("delete", Effect.WRITE, True, 2),
        ("post", Effect.WRITE, None, 0),
        ("patch", Effect.WRITE, None, 0),
    ],
)
async def test_the_method_says_what_an_operation_does(
    method: str, effect: Effect, idempotent: bool | None, retries: int
) -> None:
    async with bench(one(method), retries=2) as api:
        spec = api.spec()

    assert (spec.effect, spec.idempotent) == (effect, idempotent)
    assert (spec.retry.max_retries if spec.retry else 0) == retries


async def test_the_operator_has_the_last_word_on_a_tool() -> None:
    said = {
        "name": "find", "title": "T", "description": "D", "effect": "read", "timeout": 3,
        "category": "orders", "tags": ["mine"], "capabilities": ["find_order"],
    }  # fmt: skip
    async with bench(one("post", tags=["a"]), overrides={"op": said}, retries=1) as api:
        spec = api.spec("find")

    assert (spec.title, spec.description, spec.category, spec.tags) == (
        "T",
        "D",
        "orders",
        ("mine",),
    )
    assert spec.capabilities == ("find_order",)
    assert (spec.effect, spec.idempotent, spec.timeout) == (Effect.READ, True, 8.0)
    assert spec.retry is not None
    assert (spec.handler, spec.source, spec.action) == ("openapi", "api", "find")


async def test_a_read_that_the_operator_calls_a_write_is_not_repeated() -> None:
    async with bench(one(), overrides={"*": {"effect": "write"}}, retries=3) as api:
        assert (api.spec().idempotent, api.spec().retry) == (None, None)


@pytest.mark.parametrize(
    ("fields", "description"),
    [
        (
            {"summary": "List things", "description": "Newest first."},
            "List things.\n\nNewest first.",
        ),
        ({"summary": "List things."}, "List things."),
        ({"summary": "List", "description": "List."}, "List."),
        ({"description": "Only this"}, "Only this"),
        ({}, "GET /things of Shop."),
        ({"deprecated": True}, "GET /things of Shop.\n\nDeprecated."),
        ({"description": "x" * 5000}, "x" * 1999 + "…"),
    ],
    ids=["both", "summary", "the same twice", "description", "neither", "deprecated", "long"],
)
async def test_a_tool_says_what_the_document_says(fields: dict[str, Any], description: str) -> None:
    async with bench(one(**fields)) as api:
        assert api.spec().description == description
        expected = Status.DEPRECATED if fields.get("deprecated") else Status.ACTIVE
        assert api.spec().status is expected


async def test_hidden_and_default_arguments_are_sent() -> None:
    node = {"parameters": [parameter("a", required=True), parameter("b", required=True)]}
    said = {"hidden": {"a": "fixed"}, "defaults": {"b": "usual"}}
    async with bench(one(**node), overrides={"op": said}) as api:
        assert api.spec().input_schema["properties"] == {"b": TEXT | {"default": "usual"}}

        assert (await api.call()).unwrap()
        assert api.query == [("a", "fixed"), ("b", "usual")]
        assert (await api.call(b="mine")).unwrap()
        assert api.query == [("a", "fixed"), ("b", "mine")]

        assert isinstance((await api.call(a="other")).error, ToolArgumentError)
        with pytest.raises(InvalidRequest, match="'a' is set by the operator"):
            check_arguments({"a": 1}, {"a": 2})


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"hidden": {"gone": 1}}, "overrides: it has no argument gone."),
        ({"defaults": {"n": "many"}}, "overrides: n: "),
        ({"hidden": {"n": 0}}, "overrides: n: 0 is less than the minimum of 1"),
    ],
    ids=str,
)
async def test_an_override_that_does_not_fit_its_operation_is_the_tools_reason(
    said: Any, reason: str
) -> None:
    node = {"parameters": [parameter("n", schema={"type": "integer", "minimum": 1})]}
    async with bench(one(**node), overrides={"op": said}) as api:
        assert api.spec().unavailable.startswith(reason)


async def test_a_pattern_of_operations_need_not_fit_each() -> None:
    async with bench(one(), overrides={"*": {"hidden": {"tenant": "t"}}}) as api:
        assert api.spec().unavailable == ""
        assert (await api.call()).unwrap()


async def test_a_projection_is_what_comes_back() -> None:
    answer = always(json_reply({"items": [{"id": 1, "x": 2}]}))
    said = {"op": {"projection": "items[].id"}}
    async with bench(one(), answer, overrides=said, promise_outputs=True) as api:
        assert (await api.call()).unwrap() == [1]
        assert api.spec().output_schema is None


def answering(schema: Any, *more: Any) -> dict[str, Any]:
    kinds = {"application/json": {"schema": schema}, "text/csv": {"schema": TEXT}}
    responses = {"200": {"content": kinds}, "default": {"content": kinds}, "404": {}}
    for number, extra in enumerate(more, 1):
        responses[f"20{number}"] = {"content": {"application/json": {"schema": extra}}}
    return one(responses=responses)


NUMBER = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


async def test_outputs_are_promised_only_when_the_operator_says_so() -> None:
    answer = always(json_reply({"n": "three"}))
    async with bench(answering(NUMBER), answer) as api:
        assert api.spec().output_schema is None
        assert (await api.call()).unwrap() == {"n": "three"}
        assert api.last.headers["accept"] == "application/json, text/csv"
    async with bench(answering(NUMBER), answer, promise_outputs=True) as api:
        assert api.spec().output_schema == NUMBER
        assert "its own schema does not allow" in str((await api.call()).error)


async def test_text_and_heads_break_no_promise() -> None:
    csv = always(reply(b"a,b", headers={"Content-Type": "text/csv"}))
    async with bench(answering(NUMBER), csv, promise_outputs=True) as api:
        assert (await api.call()).unwrap() == "a,b"
    head = one("head", responses=answering(NUMBER)["paths"]["/things"]["get"]["responses"])
    async with bench(head, always(reply(b"")), promise_outputs=True) as api:
        assert (await api.call()).unwrap()["status"] == 200


@pytest.mark.parametrize(
    "described",
    [answering({}), answering(NUMBER, TEXT), one(), one(responses={"200": {"$ref": "#/gone"}})],
    ids=["anything", "two", "nothing", "broken"],
)
async def test_what_is_not_clear_is_not_promised(described: Any) -> None:
    async with bench(described, promise_outputs=True) as api:
        assert api.spec().output_schema is None
        assert (await api.call()).unwrap()


async def test_credentials_go_with_the_request_and_nowhere_else() -> None:
    schemes = {"key": {"type": "apiKey", "in": "query", "name": "api_key"}}
    described = one(
        parameters=[parameter("api_key"), parameter("q"), parameter("Cookie", "header")],
        security=[{"key": []}],
        components={"securitySchemes": schemes},
    )
    auth = {"kind": "api_key", "key": "s3cret key"}
    async with bench(
        described, always(json_reply({"message": "bad s3cret key"}, status=403)), auth=auth
    ) as api:
        assert list(api.spec().input_schema["properties"]) == ["q"]
        assert api.spec().credential == "api/key"

        result = await api.call(q="x")

        assert api.query == [("q", "x"), ("api_key", "s3cret key")]
        assert isinstance(result.error, ToolFailed)
        assert "'api/key' may not do this" in str(result.error)
        assert "s3cret" not in repr(result)
        assert "s3cret" not in json.dumps(api.spec().to_dict())


async def test_what_needs_a_credential_is_never_sent_without() -> None:
    schemes = {"b": {"type": "http", "scheme": "bearer"}}
    paths = {
        "/open": {"get": operation(operationId="open", security=[])},
        "/closed": {"get": operation(operationId="closed")},
    }
    described = document(paths, security=[{"b": []}], components={"securitySchemes": schemes})
    async with bench(described) as api:
        assert (await api.call("open")).unwrap()
        result = await api.call("closed")

        assert "'b', {kind: bearer, token: ...}" in str(result.error)
        assert len(api.server.requests) == 1
    async with bench(described, auth=BEARER) as api:
        assert (await api.call("open")).unwrap()
        assert "authorization" not in api.last.headers
        assert (await api.call("closed")).unwrap()
        assert api.last.headers["authorization"] == "Bearer s3cret-token"


async def test_headers_of_the_operator_go_with_every_request() -> None:
    node = {"parameters": [parameter("X-Team", "header"), parameter("X-Mine", "header")]}
    async with bench(one(**node), headers={"x-team": "blue-team"}) as api:
        assert list(api.spec().input_schema["properties"]) == ["X-Mine"]
        assert (await api.call()).unwrap()
        assert api.last.headers["x-team"] == "blue-team"


async def test_an_operation_on_another_server_gets_no_credentials_unasked() -> None:
    async with serving(OK) as other:
        url = f"http://{other.authority}"
        described = one(servers=[{"url": url}]) | {"servers": [{"url": "http://127.0.0.1:9"}]}
        async with bench(described, base_url="", auth=BEARER) as api:
            assert f"credential_origins: [{url}]" in api.spec().unavailable
        async with bench(described, base_url="", auth=BEARER, credential_origins=[url]) as api:
            assert api.spec().unavailable == ""
        async with bench(described, base_url="") as api:
            assert api.spec().unavailable == ""
        assert other.requests == []


async def test_an_operation_without_an_address_says_so() -> None:
    paths = {
        "/a": {"get": operation(operationId="a", servers=[{"url": "https://{x}.test"}])},
        "/b": {"get": operation(operationId="b", servers=[{"url": "https://b.test"}])},
    }
    async with bench(document(paths), base_url="") as api:
        assert "Set server_variables: {x: ...}" in api.spec("a").unavailable
        assert api.spec("b").unavailable == ""


async def test_a_redirect_elsewhere_loses_the_credentials() -> None:
    async with serving(OK) as other:
        moved = reply(b"", status=302, headers={"Location": f"http://{other.authority}/x"})
        auth = [BEARER, {"kind": "api_key", "key": "k3y-value", "in": "header", "name": "X-Key"}]
        headers = {"X-H": "h3ader"}
        async with bench(one(), always(moved), also=other, auth=auth, headers=headers) as api:
            assert (await api.call()).unwrap()
            assert api.last.headers["x-key"] == "k3y-value"
        (received,) = other.requests
        assert not {"authorization", "x-key", "x-h"} & received.headers.keys()


async def test_a_broken_operation_is_listed_with_its_reason() -> None:
    paths = {
        "/a": {"get": operation(operationId="a", parameters=[{"$ref": "#/gone"}])},
        "/b": {"get": operation(operationId="b")},
    }
    async with bench(document(paths)) as api:
        assert api.spec("a").unavailable == "$ref '#/gone' leads to nothing."
        assert isinstance((await api.call("a")).error, Unavailable)
        assert (await api.call("b")).unwrap()


async def test_the_next_page_is_told_in_words() -> None:
    link = {"Link": '</things?page=2&key=k>; rel="next"'}
    answer = always(reply(b"[1]", headers={"Content-Type": "application/json"} | link))
    node = {"parameters": [parameter("page"), parameter("key")]}
    async with bench(one(**node), answer, overrides={"op": {"hidden": {"key": "k"}}}) as api:
        result = await api.call()

    assert result.structured == [1]
    assert result.text == "[1]\n[There is more: call again with page=2.]"


async def test_what_may_pass_is_tried_again_where_that_is_safe() -> None:
    answers = [json_reply({}, status=503), json_reply({}, status=503), json_reply({"n": 1})]

    async def answer(_: Received, writer: Any) -> None:
        writer.write(answers.pop(0))

    async with bench(one(), answer, retries=2) as api:
        assert (await api.call()).unwrap() == {"n": 1}
        assert len(api.server.requests) == 3


async def test_a_long_answer_is_cut_and_said_to_be() -> None:
    answer = always(reply(b"x" * 5000, headers={"Content-Type": "text/plain"}))
    async with bench(one(), answer, max_answer_bytes=1024) as api:
        text = (await api.call()).text

    assert text.startswith("x" * 1024 + "\n[The answer is longer")


async def test_a_stored_file_is_handed_on_by_its_handle() -> None:
    png = b"\x89PNG\xff\x00"
    schema = {"properties": {"photo": {"type": "string", "format": "binary"}}}
    paths = {
        "/photo": {
            "get": operation(operationId="fetch"),
            "post": operation(
                operationId="send",
                requestBody={
                    "required": True,
                    "content": {"multipart/form-data": {"schema": schema}},
                },
            ),
        }
    }
    answer = always(reply(png, headers={"Content-Type": "image/png"}))
    async with bench(document(paths), answer) as api:
        (file,) = (await api.call("fetch")).artifacts

        await api.call("send", photo={"base64": file.handle, "name": "p.png"})

        assert png in api.last.body
        assert b'name="photo"; filename="p.png"' in api.last.body


async def test_actions_are_operations_written_by_hand() -> None:
    written = [
        {
            "name": "forecast", "path": "/f/{city}", "description": "Weather.", "tags": ["w"],
            "parameters": [{"name": "city"}, {"name": "days", "schema": {"type": "integer"}}],
        },
        {
            "name": "report", "method": "POST", "path": "/r", "title": "Report",
            "parameters": [{"name": "X-Id", "in": "header", "required": True}],
            "body": {"type": "object", "properties": {"t": {"type": "number"}}},
            "body_required": False,
        },
        {"name": "import", "method": "post", "path": "/i", "body": {}, "body_type": "text/csv"},
    ]  # fmt: skip
    async with bench(None, actions=written) as api:
        assert (await api.call("forecast", city="Rome", days="3")).unwrap()
        assert api.last.path == "/f/Rome?days=3"
        assert (await api.call("report", t=1.5, **{"X-Id": "i"})).unwrap()
        assert (api.body, api.last.headers["x-id"]) == ({"t": 1.5}, "i")
        assert (await api.call("import", body="a,b")).unwrap()
        assert api.last.body == b"a,b"
        assert api.spec("report").description == "Report."


def test_an_action_is_an_operation_like_any_other() -> None:
    action = Action.model_validate({"name": "a", "method": "PUT", "path": "/a/{id}"})

    (found,) = written_by_hand([action])

    assert (found.id, found.place, found.body) == ("a", "PUT /a/{id}", None)
    assert [one.name for one in found.parameters] == ["id"]
