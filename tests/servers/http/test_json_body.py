import json
import math
from types import MappingProxyType

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.errors import InvalidRequest
from pegboard.servers.http.json_body import MAX_DEPTH, JsonResponse, decode_json

JSON = {"content-type": "application/json"}
MANY = 1_000_000
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@settings(max_examples=50)
@given(VALUES)
def test_whatever_is_json_is_read_and_written_back(value: object) -> None:
    assert decode_json(bytes(JsonResponse(value).body), max_values=MANY) == value


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{", id="cut off"),
        pytest.param(b"{}x", id="something behind"),
        pytest.param(b"{'a': 1}", id="single quotes"),
        pytest.param(b"[1,]", id="trailing comma"),
        pytest.param(b"NaN", id="NaN"),
        pytest.param(b'{"a": -Infinity}', id="infinity"),
        pytest.param(b"1e999", id="beyond a double"),
        pytest.param(b'"\xff"', id="not UTF-8"),
        pytest.param('{"a": 1}'.encode("utf-16"), id="UTF-16"),
        pytest.param(b'"\\ud800"', id="half of a surrogate pair"),
        pytest.param(b"[" * 100_000, id="far too deep"),
    ],
)
def test_what_is_not_json_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRequest):
        decode_json(body, max_values=MANY)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_depth_has_a_bound(opening: str) -> None:
    closing = "]" if opening == "[" else "}"

    def nested(levels: int) -> bytes:
        inner = "[]" if opening == "[" else "{}"
        return (opening * (levels - 1) + inner + closing * (levels - 1)).encode()

    assert decode_json(nested(MAX_DEPTH), max_values=MANY) is not None
    with pytest.raises(InvalidRequest, match=f"deeper than {MAX_DEPTH}"):
        decode_json(nested(MAX_DEPTH + 1), max_values=MANY)


def test_many_brackets_beside_each_other_are_not_deep() -> None:
    assert len(decode_json(b"[" + b"[]," * 5000 + b"[]]", max_values=MANY)) == 5001
    assert decode_json(b'"' + b"[" * 5000 + b'"', max_values=MANY) == "[" * 5000


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"[]," * 99 + b"[]]",
        b"{" + b'"k":1,' * 99 + b'"k":1}',
        b'[",",[' + b"1," * 98 + b"1]]",
    ],
    ids=["arrays", "keys", "numbers"],
)
def test_the_number_of_values_has_a_bound(body: bytes) -> None:
    with pytest.raises(InvalidRequest, match="PEGBOARD_MAX_REQUEST_VALUES"):
        decode_json(body, max_values=100)

    assert decode_json(body, max_values=202)


def test_a_long_text_is_one_value() -> None:
    text = rb"[1, {\"2,\"]" * 10_000

    assert decode_json(b'{"text": "' + text + b'"}', max_values=3)


def test_a_key_that_stands_twice_has_its_last_value() -> None:
    assert decode_json(b'{"a": 1, "a": 2}', max_values=MANY) == {"a": 2}


def test_numbers_that_json_does_not_have_become_null() -> None:
    assert JsonResponse({"a": math.nan, "b": [math.inf]}).body == b'{"a":null,"b":[null]}'


def test_beside_half_of_a_pair_a_number_that_json_does_not_have_is_null() -> None:
    answer = JsonResponse({"half": "\ud800", "far": [float("inf"), 1.5]})

    assert json.loads(bytes(answer.body)) == {"half": "\ud800", "far": [None, 1.5]}


def test_half_of_a_surrogate_pair_is_escaped() -> None:
    assert json.loads(bytes(JsonResponse({"a": "\udfff", "b": math.nan}).body))["a"] == "\udfff"


def test_a_mapping_of_any_kind_is_an_object() -> None:
    assert JsonResponse(MappingProxyType({"a": 1})).body == b'{"a":1}'


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        pytest.param(b'{"name": "add"}', {}, 415, id="no type"),
        pytest.param(b'{"name": "add"}', {"content-type": "text/plain"}, 415, id="text"),
        pytest.param(
            b"name=add", {"content-type": "application/x-www-form-urlencoded"}, 415, id="a form"
        ),
        pytest.param(b"{}", {"content-type": "application/jsonp"}, 415, id="nearly JSON"),
        pytest.param(b"{}", {**JSON, "content-encoding": "gzip"}, 415, id="compressed"),
        pytest.param(b"{", JSON, 400, id="malformed"),
        pytest.param(b'{"name": "echo", "input": {"value": NaN}}', JSON, 400, id="NaN"),
        pytest.param(b"[" * 5000 + b"]" * 5000, JSON, 400, id="deep"),
        pytest.param(b"", JSON, 400, id="empty"),
        pytest.param(b"null", JSON, 422, id="null"),
        pytest.param(b"[]", JSON, 422, id="a list"),
        pytest.param(b'"text"', JSON, 422, id="a text"),
    ],
)
async def test_a_body_that_cannot_be_read_is_a_problem(
    client: httpx2.AsyncClient, body: bytes, headers: dict[str, str], status: int
) -> None:
    answer = await client.post("/execute", content=body, headers=headers)

    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"]
)
async def test_json_may_be_declared_in_any_way(client: httpx2.AsyncClient, kind: str) -> None:
    answer = await client.post(
        "/execute",
        content='{"name": "echo", "input": {"value": "\u00e9"}}'.encode(),
        headers={"content-type": kind},
    )

    assert answer.json()["output"] == "\u00e9"


async def test_a_deep_value_that_is_allowed_comes_back(client: httpx2.AsyncClient) -> None:
    value: list[object] = []
    for _ in range(MAX_DEPTH - 5):
        value = [value]

    answer = await client.post("/execute", json={"name": "echo", "input": {"value": value}})

    assert answer.json()["output"] == value
