"""Cursors give back the place they were made of, and nothing else is one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import InvalidRequest
from pegboard.storage.paging import cursor_of, position_of

TIMES = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.integers(0, 2**63 - 1)


@given(TIMES, NUMBERS)
def test_a_cursor_gives_back_its_position_exactly(started_at: float, number: int) -> None:
    assert position_of(cursor_of((started_at, number))) == (started_at, number)


def test_no_cursor_is_the_first_page() -> None:
    assert position_of("") is None


@given(st.text(min_size=1))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="cursor"):
        position_of(text)


@pytest.mark.parametrize(
    "data",
    ["{}", "[1.0]", "[1.0, true]", "[1.0, 2, 3]", "[1, 2]", '["1.0", 2]', "[1e999, 2]",
     "[1.0, 9223372036854775808]", "[" * 5000],
)  # fmt: skip
def test_other_json_is_refused(data: str) -> None:
    import base64

    cursor = base64.urlsafe_b64encode(data.encode()).decode()

    with pytest.raises(InvalidRequest, match="cursor"):
        position_of(cursor)
