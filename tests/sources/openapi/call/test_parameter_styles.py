import json
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import InvalidRequest
from pegboard.sources.openapi.call.parameter_styles import (
    serialize_cookie,
    serialize_header,
    serialize_path,
    serialize_query,
)
from pegboard.sources.openapi.document.lenient_access import LocatedNode
from pegboard.sources.openapi.document.operations import OperationParameter

ARRAY = ["blue", "black", "brown"]
OBJECT = {"R": 100, "G": 200, "B": 150}


def parameter(location: str, style: str, *, explode: bool, **fields: Any) -> OperationParameter:
    return OperationParameter(
        name="color",
        location=location,
        schema=LocatedNode(node={}),
        style=style,
        explode=explode,
        **fields,
    )


def written(style: str, explode: bool, value: object) -> str:
    """As the table of OpenAPI writes it: without the `?` in front of a query."""
    if style in ("matrix", "label", "simple"):
        return serialize_path(parameter("path", style, explode=explode), value)
    return "&".join(serialize_query(parameter("query", style, explode=explode), value))


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("matrix", False, "", ";color"),
        ("matrix", False, "blue", ";color=blue"),
        ("matrix", False, ARRAY, ";color=blue,black,brown"),
        ("matrix", False, OBJECT, ";color=R,100,G,200,B,150"),
        ("matrix", True, "", ";color"),
        ("matrix", True, "blue", ";color=blue"),
        ("matrix", True, ARRAY, ";color=blue;color=black;color=brown"),
        ("matrix", True, OBJECT, ";R=100;G=200;B=150"),
        ("label", False, "", "."),
        ("label", False, "blue", ".blue"),
        ("label", False, ARRAY, ".blue,black,brown"),
        ("label", False, OBJECT, ".R,100,G,200,B,150"),
        ("label", True, "", "."),
        ("label", True, "blue", ".blue"),
        ("label", True, ARRAY, ".blue.black.brown"),
        ("label", True, OBJECT, ".R=100.G=200.B=150"),
        ("simple", False, "", ""),
        ("simple", False, "blue", "blue"),
        ("simple", False, ARRAY, "blue,black,brown"),
        ("simple", False, OBJECT, "R,100,G,200,B,150"),
        ("simple", True, "", ""),
        ("simple", True, "blue", "blue"),
        ("simple", True, ARRAY, "blue,black,brown"),
        ("simple", True, OBJECT, "R=100,G=200,B=150"),
        ("form", False, "", "color="),
        ("form", False, "blue", "color=blue"),
        ("form", False, ARRAY, "color=blue,black,brown"),
        ("form", False, OBJECT, "color=R,100,G,200,B,150"),
        ("form", True, "", "color="),
        ("form", True, "blue", "color=blue"),
        ("form", True, ARRAY, "color=blue&color=black&color=brown"),
        ("form", True, OBJECT, "R=100&G=200&B=150"),
        ("spaceDelimited", False, ARRAY, "color=blue%20black%20brown"),
        ("spaceDelimited", False, OBJECT, "color=R%20100%20G%20200%20B%20150"),
        ("pipeDelimited", False, ARRAY, "color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", False, OBJECT, "color=R%7C100%7CG%7C200%7CB%7C150"),
        ("tabDelimited", False, ARRAY, "color=blue%09black%09brown"),
        ("deepObject", True, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
    ],
)
def test_the_table_of_styles_in_the_specification(
    style: str, explode: bool, value: object, expected: str
) -> None:
    assert written(style, explode, value) == expected


def test_a_deep_object_may_be_deeper() -> None:
    value = {"a": {"b": 1}, "c": [1, 2], "d": None, "e": True}

    pieces = serialize_query(parameter("query", "deepObject", explode=True), value)

    assert [unquote(piece) for piece in pieces] == [
        "color[a][b]=1",
        "color[c][0]=1",
        "color[c][1]=2",
        "color[e]=true",
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, "true"), (False, "false"), (1.5, "1.5"), (10**30, "1" + "0" * 30), ({"a": [1]}, None)],
)
def test_scalars_are_written_as_json_writes_them(value: object, expected: str | None) -> None:
    made = serialize_query(parameter("query", "form", explode=False), value)

    assert made == [f"color={expected}" if expected else "color=a,%5B1%5D"]


def test_what_is_empty_is_left_out_of_a_query() -> None:
    for value in ([], {}, [None], {"a": None}):
        for explode in (True, False):
            assert serialize_query(parameter("query", "form", explode=explode), value) == []


def test_headers_hold_the_text_as_it_is() -> None:
    assert (
        serialize_header(parameter("header", "simple", explode=False), ARRAY) == "blue,black,brown"
    )
    assert (
        serialize_header(parameter("header", "simple", explode=False), OBJECT)
        == "R,100,G,200,B,150"
    )
    assert (
        serialize_header(parameter("header", "simple", explode=True), OBJECT) == "R=100,G=200,B=150"
    )
    assert serialize_header(parameter("header", "simple", explode=False), "a b/ü") == "a b/ü"


def test_cookies_cannot_end_early() -> None:
    assert serialize_cookie(parameter("cookie", "form", explode=True), "a; admin=1") == [
        "color=a%3B%20admin=1"
    ]
    assert serialize_cookie(parameter("cookie", "form", explode=False), ARRAY) == [
        "color=blue,black,brown"
    ]


@pytest.mark.parametrize("location", ["path", "query", "header", "cookie"])
def test_a_parameter_with_a_content_type_is_json(location: str) -> None:
    write = {
        "path": serialize_path,
        "query": serialize_query,
        "header": serialize_header,
        "cookie": serialize_cookie,
    }
    one = parameter(location, "simple", explode=False, content_type="application/json")

    made = write[location](one, {"a": [1, "ü"]})

    text = made if isinstance(made, str) else made[0].removeprefix("color=")
    assert json.loads(unquote(text) if location != "header" else text) == {"a": [1, "ü"]}


@pytest.mark.parametrize(
    ("content_type", "value", "expected"),
    [
        ("text/plain; charset=utf-8", "a b", "color=a%20b"),
        ("application/json", "a b", "color=%22a%20b%22"),
        ("*/*", "a b", "color=%22a%20b%22"),
        ("text/plain", 5, "color=5"),
    ],
)
def test_a_text_is_quoted_only_where_the_content_type_is_json(
    content_type: str, value: object, expected: str
) -> None:
    one = parameter("query", "form", explode=True, content_type=content_type)

    assert serialize_query(one, value) == [expected]


def test_reserved_characters_stay_where_the_document_says_so_but_never_end_the_value() -> None:
    one = parameter("query", "form", explode=True, allow_reserved=True)

    assert serialize_query(one, "/a:b?c&admin=1#x+[y]%41") == [
        "color=/a:b?c%26admin%3D1%23x%2B%5By%5D%2541"
    ]


@pytest.mark.parametrize("bad", ["a\r\nX-Admin: 1", "a\nb", "a\0b", "\x1b[0m", "\x7f", "\ud800"])
def test_a_header_takes_no_line_breaks_or_control_characters(bad: str) -> None:
    one = parameter("header", "simple", explode=False)

    for value in (bad, [bad], {bad: 1}, {"a": bad}):
        with pytest.raises(InvalidRequest, match="'color'"):
            serialize_header(one, value)


@pytest.mark.parametrize("location", ["path", "query", "cookie"])
def test_half_a_surrogate_pair_is_refused_everywhere(location: str) -> None:
    write = {"path": serialize_path, "query": serialize_query, "cookie": serialize_cookie}[location]
    for content_type in ("", "application/json"):
        one = parameter(location, "simple", explode=False, content_type=content_type)
        for value in ("\ud800", ["\ud800"], {"\ud800": 1}, {"a": "\udfff"}):
            with pytest.raises(InvalidRequest, match="not valid Unicode"):
                write(one, value)


def test_what_json_cannot_say_is_refused() -> None:
    one = parameter("query", "form", explode=True, content_type="application/json")

    for value in (float("inf"), float("nan"), object()):
        with pytest.raises(InvalidRequest, match="cannot be written as JSON"):
            serialize_query(one, value)


texts = st.text(st.characters(codec="utf-8"), max_size=20)


@given(texts)
def test_a_path_value_never_leaves_its_segment(value: str) -> None:
    for style in ("simple", "label", "matrix"):
        made = serialize_path(parameter("path", style, explode=False), value)

        assert not set(made) & set("/\\?#&\r\n\0 ")
        assert unquote(made).removeprefix({"label": ".", "matrix": ";color="}.get(style, "")) in (
            value,
            ";color",
        )


@given(texts, st.booleans())
def test_a_query_value_is_read_back_as_it_was(value: str, reserved: bool) -> None:
    one = parameter("query", "form", explode=True, allow_reserved=reserved)

    assert parse_qsl("&".join(serialize_query(one, value)), keep_blank_values=True) == [
        ("color", value)
    ]


@given(st.lists(texts, min_size=1, max_size=5))
def test_an_exploded_array_is_read_back_as_it_was(values: list[str]) -> None:
    one = parameter("query", "form", explode=True)

    found = parse_qsl("&".join(serialize_query(one, values)), keep_blank_values=True)

    assert [value for _, value in found] == values


@given(st.dictionaries(texts, texts, min_size=1, max_size=5))
def test_a_deep_object_is_read_back_as_it_was(value: dict[str, str]) -> None:
    one = parameter("query", "deepObject", explode=True)

    found = parse_qsl("&".join(serialize_query(one, value)), keep_blank_values=True)

    assert dict(found) == {f"color[{key}]": text for key, text in value.items()}
