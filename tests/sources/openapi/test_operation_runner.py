"""Calls of operations: what is sent, what comes back, and what is promised of it."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

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


def _cursors(pages: int) -> Any:
    """Answers with one item a page, and the cursor of the next."""

    async def answer(received: Received, writer: Any) -> None:
        number = int(dict(parse_qsl(urlsplit(received.path).query)).get("cursor", "1"))
        following = {"next_cursor": str(number + 1)} if number < pages else {}
        writer.write(json_reply({"items": [number], **following}))

    return answer


PAGED = {"parameters": [parameter("cursor"), parameter("q")]}


async def test_a_call_goes_on_with_the_cursor_that_it_was_told() -> None:
    async with bench(one(**PAGED), _cursors(2)) as api:
        first = await api.call(q="x")
        last = await api.call(q="x", cursor="2")

    assert first.text.endswith("[There is more: call again with cursor=2.]")
    assert last.structured == {"items": [2]}
    assert "There is more" not in last.text


async def test_a_call_reads_several_pages_as_one_list() -> None:
    paging = {"paging": {"max_pages": 3}}
    async with bench(one(**PAGED), _cursors(5), overrides={"op": paging}) as api:
        single = await api.call(q="x")
        several = await api.call(q="x", max_pages=3)
        rest = await api.call(q="x", cursor="4", max_pages=3)
        too_many = await api.call(max_pages=4)
        paths = [received.path for received in api.server.requests]

    assert single.structured["items"] == [1]
    assert several.structured["items"] == [1, 2, 3]
    assert several.text.endswith("[There is more: call again with cursor=4.]")
    assert rest.structured == {"items": [4, 5]}
    assert isinstance(too_many.error, ToolArgumentError)
    cursors = [f"cursor={number}&q=x" for number in (2, 3, 4, 5)]
    assert paths == [f"/things?{query}" for query in ("q=x", "q=x", *cursors)]


async def test_a_projection_sees_the_items_of_all_pages() -> None:
    paging = {"paging": {"max_pages": 3}, "projection": "items[-1]"}
    async with bench(one(**PAGED), _cursors(3), overrides={"op": paging}) as api:
        result = await api.call(max_pages=3)

    assert result.unwrap() == 3


async def test_pages_by_number_end_with_an_empty_one() -> None:
    async def answer(received: Received, writer: Any) -> None:
        number = int(dict(parse_qsl(urlsplit(received.path).query)).get("page", "1"))
        writer.write(json_reply([number] if number < 3 else []))

    paging = {"paging": {"style": "page", "argument": "page", "max_pages": 10}}
    node = {"parameters": [parameter("page", schema={"type": "integer"})]}
    async with bench(one(**node), answer, overrides={"op": paging}) as api:
        result = await api.call(max_pages=10)
        count = len(api.server.requests)

    assert (result.structured, count) == ([1, 2], 3)
    assert "There is more" not in result.text


async def test_a_page_that_cannot_be_read_leaves_those_before_it() -> None:
    answers = [json_reply({"items": [1], "next_cursor": "2"}), json_reply({}, status=503)]

    async def answer(_: Received, writer: Any) -> None:
        writer.write(answers.pop(0))

    async with bench(one(**PAGED), answer, overrides={"op": {"paging": {"max_pages": 5}}}) as api:
        result = await api.call(max_pages=5)

    assert result.structured["items"] == [1]
    assert "[Page 2 could not be read: " in result.text
    assert result.text.endswith("[There is more: call again with cursor=2.]")


async def test_a_next_page_elsewhere_gives_its_arguments_only() -> None:
    link = {"Link": '<http://evil.test/steal?cursor=9>; rel="next"'}
    answer = always(reply(b"[1]", headers={"Content-Type": "application/json"} | link))
    async with bench(one(**PAGED), answer, overrides={"op": {"paging": {"max_pages": 2}}}) as api:
        result = await api.call(max_pages=2)
        paths = [received.path for received in api.server.requests]

    assert result.structured == [1, 1]
    assert paths == ["/things", "/things?cursor=9"]


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
