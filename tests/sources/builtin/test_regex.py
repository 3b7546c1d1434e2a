import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.regex import Pattern


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "(a|aa)+$", "(.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$"]
)
def test_a_pattern_that_makes_others_hang_is_quick(pattern: str) -> None:
    started = time.process_time()

    Pattern(pattern).find_in("a" * 500_000 + "!")

    assert time.process_time() - started < 2


@pytest.mark.timeout(60)
def test_a_pattern_that_looks_far_ahead_for_each_match_is_stopped() -> None:
    matches = Pattern("(?s)a.*b|a").matches("a" * 500_000)

    with pytest.raises(InvalidRequest, match="takes too long"):
        for _ in matches:
            pass


@given(text=st.text(max_size=30), literal=st.text(min_size=1, max_size=3))
def test_a_literal_is_found_where_it_stands(text: str, literal: str) -> None:
    expected = [match.span() for match in re.finditer(re.escape(literal), text)]

    assert [match.span() for match in Pattern(literal, literal=True).matches(text)] == expected


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [("A", "a", False), ("(?i)A", "a", True), ("^b$", "a\nb\nc", True), ("a.b", "a\nb", False)],
)
def test_patterns_mean_what_they_mean_in_perl(pattern: str, text: str, found: bool) -> None:
    assert Pattern(pattern).find_in(text) is found


def test_case_is_ignored_on_request() -> None:
    assert Pattern("ÜB", ignore_case=True, literal=True).find_in("über")


@pytest.mark.parametrize(
    "pattern", ["(", "[z-a]", "a{99999}", "(?=a)", r"(a)\1", "((((a{9}){9}){9}){9}){9}"]
)
def test_a_pattern_that_is_none_says_why(pattern: str) -> None:
    with pytest.raises(InvalidRequest, match="The pattern is not valid"):
        Pattern(pattern)
