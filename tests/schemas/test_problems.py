"""Faults in words: one line each, whatever was found."""

from typing import Any

import pytest

from pegboard.schemas.problems import (
    describe_value,
    missing_argument,
    not_an_object,
    path_of,
    shorten,
    unknown_argument,
    with_article,
)


@pytest.mark.parametrize(
    ("location", "path"),
    [
        pytest.param((), "", id="the whole"),
        pytest.param(("a",), "a", id="a name"),
        pytest.param(("items", 2, "price"), "items[2].price", id="an item's field"),
        pytest.param((0, 1), "[0][1]", id="items alone"),
        pytest.param(("a\nb",), "a\\nb", id="a name with a line break"),
        pytest.param(("k" * 80,), "k" * 59 + "…", id="an endless name"),
    ],
)
def test_a_place_is_written_as_people_write_it(location: Any, path: str) -> None:
    assert path_of(location) == path


@pytest.mark.parametrize(
    ("value", "words"),
    [
        pytest.param(None, "null", id="null"),
        pytest.param(True, "true (boolean)", id="boolean"),
        pytest.param(5, "5 (number)", id="integer"),
        pytest.param(1.5, "1.5 (number)", id="float"),
        pytest.param(10**4999, "a 16607-bit integer (number)", id="huge integer"),
        pytest.param("abc", '"abc" (string)', id="string"),
        pytest.param("é", '"é" (string)', id="accent"),
        pytest.param("a\n- b: fine", '"a\\n- b: fine" (string)', id="a line break"),
        pytest.param("\ud800", '"\\ud800" (string)', id="half a surrogate pair"),
        pytest.param("x" * 100, f'"{"x" * 59}…" (string)', id="long string"),
        pytest.param([1, 2], "an array of 2", id="array"),
        pytest.param((), "an array of 0", id="tuple"),
        pytest.param({"a": 1}, "an object", id="object"),
        pytest.param(object, "a Python type", id="not JSON"),
    ],
)
def test_a_value_is_shown_with_its_json_type(value: Any, words: str) -> None:
    assert describe_value(value) == words


@pytest.mark.parametrize(
    ("json_type", "words"),
    [("integer", "an integer"), ("array", "an array"), ("string", "a string"), ("null", "null")],
)
def test_a_type_has_its_article(json_type: str, words: str) -> None:
    assert with_article(json_type) == words


@pytest.mark.parametrize(
    ("known", "hint"),
    [
        pytest.param(["query", "limit"], "did you mean 'query'?", id="a near one"),
        pytest.param(["a", "b"], "known are a, b", id="none is near"),
        pytest.param([], "there are none", id="none is known"),
    ],
)
def test_an_unknown_argument_names_the_nearest(known: list[str], hint: str) -> None:
    assert str(unknown_argument(("qery",), known)) == f"qery: unknown argument; {hint}"


def test_an_endless_unknown_name_is_compared_in_no_time() -> None:
    assert len(str(unknown_argument(("q" * 1_000_000,), ["query"] * 1000))) < 400


def test_a_description_of_several_lines_is_one() -> None:
    assert missing_argument(("a",), "What\nit  is").message == "missing, required (What it is)"


def test_a_long_message_is_cut() -> None:
    assert len(shorten("x" * 1000)) == 300


def test_json_that_is_no_object_is_named() -> None:
    assert str(not_an_object([1])) == (
        "expected a JSON object with the arguments, found an array of 1"
    )
