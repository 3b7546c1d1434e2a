from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import InvalidRequest
from pegboard.graphs.expressions.templates import (
    MAX_CHARACTERS,
    as_text,
    escape_braces,
    fill_template,
    path_within,
    pieces,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ({"a": [1, "ü"]}, '{"a":[1,"ü"]}'),
        (MappingProxyType({"a": MappingProxyType({})}), '{"a":{}}'),
    ],
)
def test_what_is_no_text_stands_in_one_as_compact_json(value: object, text: str) -> None:
    assert as_text(value) == text
    assert fill_template("<{{ item }}>", lambda _: value) == f"<{text}>"


def test_what_was_put_in_is_not_filled_again() -> None:
    assert fill_template("{{ item }}", lambda _: "{{ item }}") == "{{ item }}"


def test_a_text_that_becomes_too_long_is_refused() -> None:
    half = "x" * (MAX_CHARACTERS // 2)

    assert len(fill_template("{{ item }}{{ item }}", lambda _: half)) == MAX_CHARACTERS
    with pytest.raises(InvalidRequest, match="at most 1,000,000 characters"):
        fill_template("{{ item }}{{ item }}.", lambda _: half)


def test_braces_that_are_not_closed_are_one_part_to_the_end() -> None:
    assert list(pieces("a {{ b {{ c }}")) == [("a ", False), ("{{ b {{ c }}", True)]
    with pytest.raises(InvalidRequest, match="not closed"):
        path_within("{{ params.abxx")


def test_a_long_hostile_text_is_read_in_no_time() -> None:
    for unit in ("{{", "{{ '", "{{ \\'", "{{\"'", "{{ a "):
        assert len(list(pieces(unit * 100_000))) == 1


@given(st.text("{}'$ a"))
def test_what_is_written_for_itself_is_never_filled(text: str) -> None:
    assert fill_template(escape_braces(text), lambda _: "filled") == text
