"""Cursors give back the place they were made of, and nothing else is one."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.core.pagination import (
    MAX_PAGE_TEXT,
    check_page_size,
    count_fitting,
    decode_cursor,
    decode_position,
    encode_cursor,
)
from pegboard.errors import InvalidRequest

TIMES = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.integers(1 - 2**63, 2**63 - 1)
NAMES = st.text(st.characters(), max_size=50)


@given(TIMES, NUMBERS)
def test_a_cursor_gives_back_numbers_exactly(time: float, number: int) -> None:
    assert decode_cursor(encode_cursor(time, number), float, int) == (time, number)


@given(NAMES, NAMES)
def test_a_cursor_gives_back_any_names(first: str, second: str) -> None:
    assert decode_cursor(encode_cursor(first, second), str, str) == (first, second)


@given(TIMES, NUMBERS)
def test_a_cursor_gives_back_a_position_exactly(started_at: float, number: int) -> None:
    assert decode_position(encode_cursor(started_at, number)) == (started_at, number)


def test_no_cursor_is_the_first_page() -> None:
    assert decode_cursor("", str) is None
    assert decode_position("") is None


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_page_has_a_size_within_bounds(limit: int) -> None:
    assert check_page_size(1000) == 1000
    with pytest.raises(InvalidRequest, match="limit must be between 1 and 1000"):
        check_page_size(limit)


def test_a_cursor_is_not_much_longer_than_what_it_holds() -> None:
    assert len(encode_cursor("ä" * 100, "b" * 100)) < 420


@given(st.text(min_size=1))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="No page has this cursor"):
        decode_position(text)


@pytest.mark.parametrize(
    "data",
    ["{}", "[1.0]", "[1.0, true]", "[1.0, 2, 3]", "[1, 2]", '["1.0", 2]', "[1e999, 2]", "[NaN, 1]",
     "[1.0, 9223372036854775808]", "[" * 5000],
)  # fmt: skip
def test_other_json_is_refused(data: str) -> None:
    cursor = base64.urlsafe_b64encode(data.encode()).decode()

    with pytest.raises(InvalidRequest, match="No page has this cursor"):
        decode_cursor(cursor, float, int)


def test_a_cursor_of_another_list_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="No page has this cursor"):
        decode_cursor(encode_cursor("a", "b"), str)


@pytest.mark.parametrize(
    ("sizes", "count"),
    [
        ([], 0),
        ([1, 2, 3], 3),
        ([MAX_PAGE_TEXT + 1, 1], 1),
        ([1, MAX_PAGE_TEXT], 1),
        ([1, MAX_PAGE_TEXT - 1, 1], 2),
    ],
    ids=["none", "small", "a large first", "a large second", "just"],
)
def test_a_page_ends_before_it_is_too_large(sizes: list[int], count: int) -> None:
    assert count_fitting(sizes) == count
