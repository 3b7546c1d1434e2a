"""JSON text, read as the standard says."""

from typing import Any

import pytest

from pegboard.schemas.strict_json import decode, has_more_values, is_json, not_finite_places

DEEP = 10_000


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, true, null, "x"]}', {"a": [1, 2.5, True, None, "x"]}),
        (b'"\xc3\xa9"', "é"),
        ("1" * 400, int("1" * 400)),
        ("1e-999", 0.0),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("[" * 200 + "1" * 300 + "]" * 200, None),
    ],
    ids=["document", "bytes", "huge integer", "tiny number", "repeated key", "200 levels"],
)
def test_json_is_read(text: str | bytes, value: Any) -> None:
    read = decode(text)

    assert value is None or read == value


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("{", id="cut off"),
        pytest.param("{'a': 1}", id="single quotes"),
        pytest.param("[1,]", id="trailing comma"),
        pytest.param("NaN", id="NaN"),
        pytest.param("[-Infinity]", id="Infinity"),
        pytest.param("1e400", id="too large"),
        pytest.param("1" * 310 + ".5", id="too long"),
        pytest.param("1" * 5000, id="too many digits"),
        pytest.param('"\ud800"', id="half a surrogate pair"),
        pytest.param('"' + "\ud800" * 500 + "[" * 300 + '"', id="many halves"),
        pytest.param('"\\ud800"', id="half a pair, escaped"),
        pytest.param(b'"\xff"', id="not UTF-8"),
        pytest.param(b"\xff\xfe{\x00}\x00", id="UTF-16"),
        pytest.param("[" * DEEP, id="deep and cut off"),
        pytest.param("[" * DEEP + "]" * DEEP, id="deep"),
        pytest.param(b'{"a":' * DEEP + b"1" + b"}" * DEEP, id="deep objects in bytes"),
    ],
)
def test_what_is_no_json_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        decode(text)


def test_depth_is_refused_also_where_the_stack_is_nearly_full() -> None:
    def descend(levels: int) -> None:
        if levels:
            descend(levels - 1)
        else:
            decode("[" * 190 + "]" * 190)

    with pytest.raises(ValueError, match="nested too deeply"):
        descend(_frames_left() - 60)


def test_it_can_be_asked() -> None:
    assert (is_json("[1]"), is_json("[NaN]")) == (True, False)


def test_the_places_of_what_is_not_finite_are_told() -> None:
    assert not_finite_places('{"a": [1, Infinity], "b": {"c": -1e400}, "d": 1.5}') == [
        (("a", 1), float("inf")),
        (("b", "c"), float("-inf")),
    ]


@pytest.mark.parametrize("text", ["{", '"\ud800"'])
def test_what_is_no_json_at_all_has_no_such_places(text: str) -> None:
    assert not_finite_places(text) == []


def _frames_left() -> int:
    import sys

    frame, used = sys._getframe(), 0
    while frame is not None:
        frame, used = frame.f_back, used + 1
    return sys.getrecursionlimit() - used


def test_values_are_counted_in_one_pass_whatever_a_text_has() -> None:
    endless = b"[" + b"," * 1_000 + b'"' + b'\\"' * 200_000

    assert has_more_values(endless, 1_000)
    assert not has_more_values(b'["' + b'\\",[' * 200_000 + b'"]', 1_000)
