"""Arguments as they arrive become one JSON document, or a problem that says why not."""

from datetime import date
from typing import Any

import pytest

from pegboard.errors import ToolArgumentError
from pegboard.tools.raw_arguments import encode_arguments, parse_arguments


def _cyclic() -> dict[str, Any]:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    return loop


def _deep(levels: int) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for _ in range(levels):
        document = {"a": document}
    return document


@pytest.mark.parametrize(
    ("raw", "document"),
    [
        pytest.param(None, {}, id="nothing"),
        pytest.param("", {}, id="empty text"),
        pytest.param(b"", {}, id="empty bytes"),
        pytest.param(" \n", {}, id="white space"),
        pytest.param({}, {}, id="empty mapping"),
        pytest.param('{"a": 1}', {"a": 1}, id="text"),
        pytest.param(b'{"a": 1}', {"a": 1}, id="bytes"),
        pytest.param('"{\\"a\\": 1}"', {"a": 1}, id="encoded twice"),
        pytest.param(
            {"day": date(2024, 5, 6)}, {"day": "2024-05-06"}, id="values that JSON can say"
        ),
        pytest.param(
            {
                "a": {
                    1,
                }
            },
            {"a": [1]},
            id="a set",
        ),
    ],
)
def test_arguments_become_one_document(raw: Any, document: dict[str, Any]) -> None:
    assert parse_arguments("t", raw) == document


def test_the_document_is_a_new_one() -> None:
    raw = {"a": [1]}

    parse_arguments("t", raw)["a"].append(2)

    assert raw == {"a": [1]}


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("{", "not valid JSON: Input data was truncated"),
        ({"a": "\ud800"}, "the arguments are not JSON: the text holds half of a surrogate pair"),
        ('{"a": "\ud800"}', "not valid JSON: the text holds half of a surrogate pair"),
        ("[]", "expected a JSON object with the arguments, found an array of 0"),
        ("null", "expected a JSON object with the arguments, found null"),
        ('"hello"', 'expected a JSON object with the arguments, found "hello" (string)'),
        ('"{"', "not valid JSON: Input data was truncated"),
        (5, "expected a JSON object with the arguments, found 5 (number)"),
        ([1], "expected a JSON object with the arguments, found an array of 1"),
        ('{"a": NaN}', "a: expected a finite number, found nan (number)"),
        ({"a": [float("inf")]}, "a[0]: expected a finite number, found inf (number)"),
    ],
    ids=str,
)
def test_what_is_no_document_is_told_in_one_line(raw: Any, line: str) -> None:
    with pytest.raises(ToolArgumentError) as caught:
        parse_arguments("t", raw)

    assert [str(problem) for problem in caught.value.problems] == [line]


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param({"a": object()}, id="an object of Python"),
        pytest.param({"a": "\ud800"}, id="half a surrogate pair"),
        pytest.param({"a": b"\xff"}, id="bytes that are no text"),
        pytest.param({"\ud800": 1}, id="half a pair in a name"),
        pytest.param(_cyclic(), id="a loop"),
        pytest.param(_deep(100_000), id="without end"),
    ],
)
def test_a_mapping_that_json_cannot_say_is_malformed(raw: Any) -> None:
    with pytest.raises(ToolArgumentError, match="the arguments are not JSON") as caught:
        encode_arguments("t", raw)

    assert [problem.kind for problem in caught.value.problems] == ["malformed"]


def test_the_message_can_be_sent_as_utf_8() -> None:
    with pytest.raises(ToolArgumentError) as caught:
        parse_arguments("t", '{"\ud800": 1')

    assert str(caught.value).encode()
