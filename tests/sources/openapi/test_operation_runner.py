"""Calls of operations: what is sent, what comes back, and what is promised of it."""

from typing import Any

import pytest
from tests.network.loopback import Received, always, reply
from tests.sources.openapi.bench import bench, document, json_body, json_reply, one, operation

from pegboard.errors import InvalidRequest, ToolArgumentError
from pegboard.sources.openapi.client import check_hidden_arguments

TEXT = {"type": "string"}


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
            check_hidden_arguments({"a": 1}, {"a": 2})


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

    assert text.startswith("x" * 1024 + "\n[The response is longer")


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
