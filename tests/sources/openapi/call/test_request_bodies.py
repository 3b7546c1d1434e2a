import base64
import email
import email.policy
import json
from typing import Any, cast
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import InvalidRequest
from pegboard.sources.openapi.call.body_arguments import BodyKind, BodyPlan
from pegboard.sources.openapi.call.request_bodies import encode_body, file_bytes, is_file

TYPES: dict[BodyKind, str] = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "multipart": "multipart/form-data",
    "text": "text/csv",
    "file": "application/octet-stream",
}


def plan(kind: BodyKind, **encodings: Any) -> BodyPlan:
    return BodyPlan(
        kind=kind,
        content_type=TYPES[kind],
        required=True,
        schema={},
        fields=None,
        encodings=encodings,
    )


def form(value: Any, **encodings: Any) -> list[tuple[str, str]]:
    kind, content = encode_body(plan("form", **encodings), value, "body")
    assert kind == TYPES["form"]
    return parse_qsl(content.decode(), keep_blank_values=True)


def parts(value: Any, **encodings: Any) -> list[tuple[str, str | None, str, bytes]]:
    kind, content = encode_body(plan("multipart", **encodings), value, "body")
    raw = f"Content-Type: {kind}\r\n\r\n".encode() + content
    message = email.message_from_bytes(raw, policy=email.policy.HTTP)
    return [
        (
            str(part.get_param("name", header="content-disposition")),
            part.get_filename(),
            part.get_content_type() if "content-type" in part else "",
            cast("bytes", part.get_payload(decode=True)) or b"",
        )
        for part in message.iter_parts()
    ]


def test_json_is_utf_8_and_keeps_large_numbers() -> None:
    kind, content = encode_body(plan("json"), {"ü": 10**40, "__proto__": {"a": 1}}, "body")

    assert kind == "application/json"
    assert content == '{"ü":1%s,"__proto__":{"a":1}}'.encode() % (b"0" * 40)


def test_a_form_writes_scalars_arrays_and_objects() -> None:
    value = {
        "a": "x&y=z",
        "n": 1.5,
        "yes": True,
        "none": None,
        "list": ["a,b", "c"],
        "obj": {"k": [1]},
    }

    assert form(value) == [
        ("a", "x&y=z"),
        ("n", "1.5"),
        ("yes", "true"),
        ("list", "a,b"),
        ("list", "c"),
        ("obj", '{"k":[1]}'),
    ]


def test_a_form_follows_its_encoding() -> None:
    value = {"deep": {"a": {"b": 1}}, "csv": ["a", "b"], "flat": {"x": 1}}
    encodings = {
        "deep": {"style": "deepObject", "explode": True},
        "csv": {"style": "form", "explode": False},
        "flat": {"style": "form"},
    }

    assert form(value, **encodings) == [("deep[a][b]", "1"), ("csv", "a,b"), ("x", "1")]


def test_parts_of_a_form_have_their_types() -> None:
    png = b"\x89PNG\xff"
    value = {
        "caption": "Grüße",
        "meta": {"a": 1},
        "tags": ["x", "y"],
        "none": None,
        "photo": {
            "base64": base64.b64encode(png).decode(),
            "name": "p.png",
            "content_type": "image/png",
        },
        "note": {"text": "hello"},
        "typed": "{}",
    }

    assert parts(
        value, typed={"contentType": "application/json, text/plain"}, meta={"contentType": "*/*"}
    ) == [
        ("caption", None, "", "Grüße".encode()),
        ("meta", None, "application/json", b'{"a":1}'),
        ("tags", None, "", b"x"),
        ("tags", None, "", b"y"),
        ("photo", "p.png", "image/png", png),
        ("note", "note", "application/octet-stream", b"hello"),
        ("typed", None, "application/json", b'"{}"'),
    ]


def test_names_in_parts_cannot_begin_another_header() -> None:
    value = {'a"\r\nX-Evil: 1': {"text": "t", "name": 'b"\r\nContent-Type: text/html\0'}}

    _, content = encode_body(plan("multipart"), value, "body")

    head = content.partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert [line.partition(b":")[0] for line in head[1:]] == [
        b"Content-Disposition",
        b"Content-Type",
    ]
    assert b'name="a%22%0D%0AX-Evil: 1"; filename="b%22%0D%0AContent-Type: text/html"' in head[1]


def test_text_says_its_character_set() -> None:
    assert encode_body(plan("text"), "ä", "body") == ("text/csv; charset=utf-8", "ä".encode())


def test_a_file_has_the_type_that_it_says() -> None:
    named = {"text": "a", "content_type": "text/plain"}

    assert encode_body(plan("file"), named, "body") == ("text/plain", b"a")
    assert encode_body(plan("file"), {"base64": "AP8="}, "body") == (TYPES["file"], b"\x00\xff")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"text": "ä"}, "ä".encode()),
        ({"text": {"from": ["a", "handle"]}}, b'{"from":["a","handle"]}'),
        ({"text": 3}, b"3"),
        ({"base64": "aGVs\nbG8="}, b"hello"),
        ({}, b""),
    ],
    ids=str,
)
def test_a_file_is_text_or_base64(value: Any, expected: bytes) -> None:
    assert file_bytes(value, "f") == expected


@pytest.mark.parametrize("bad", ["not base64!", "abc", "ä"])
def test_what_is_not_base64_says_where_text_goes(bad: str) -> None:
    with pytest.raises(InvalidRequest, match="'f': this is not base64"):
        file_bytes({"base64": bad}, "f")


def test_a_body_of_the_wrong_shape_is_refused() -> None:
    for kind in ("form", "multipart", "file"):
        with pytest.raises(InvalidRequest, match="'body' must be an object"):
            encode_body(plan(kind), ["a"], "body")


@pytest.mark.parametrize("kind", list(TYPES))
def test_half_a_surrogate_pair_is_in_no_body(kind: BodyKind) -> None:
    values: dict[str, Any] = {"text": "\ud800", "file": {"text": "\ud800"}}

    with pytest.raises(InvalidRequest, match="not valid Unicode"):
        encode_body(plan(kind), values.get(kind, {"a": "\ud800"}), "body")
    if kind == "multipart":
        with pytest.raises(InvalidRequest, match="not valid Unicode"):
            encode_body(plan(kind), {"\ud800": "a"}, "body")


def test_only_files_are_files() -> None:
    assert is_file({"base64": "", "name": "x"})
    assert not is_file({"text": "a", "size": 3})
    assert not is_file({"name": "x"})
    assert not is_file("text")


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), min_size=1), st.text(st.characters(codec="utf-8"))
    )
)
def test_a_form_is_read_back_as_it_was(value: dict[str, str]) -> None:
    assert dict(form(value)) == value


@given(st.binary(max_size=200))
def test_any_bytes_travel_in_a_part(content: bytes) -> None:
    ((_, name, _, found),) = parts(
        {"f": {"base64": base64.b64encode(content).decode(), "name": "n"}}
    )

    assert (name, found) == ("n", content)


def test_json_bodies_are_read_back_as_they_were() -> None:
    value = {"a": [1, None, "ü", {"b": -0.5}]}

    assert json.loads(encode_body(plan("json"), value, "body")[1]) == value
