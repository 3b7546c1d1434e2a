"""How each database reads and quotes names."""

import pytest

from pegboard.sources.sql.dialects import DIALECTS
from pegboard.sources.sql.lexer import Dialect


@pytest.mark.parametrize(
    ("dialect", "plain", "quoted", "same"),
    [
        ("sqlite", "abc", "abc", True),
        ("duckdb", "abc", "abc", True),
        ("postgresql", "abc", "ABC", False),
        ("mysql", "ABC", "ABC", False),
    ],
)
def test_names_are_spelt_and_compared_as_in_the_database(
    dialect: Dialect, plain: str, quoted: str, *, same: bool
) -> None:
    rules = DIALECTS[dialect]

    assert (rules.spell("ABC", quoted=False), rules.spell("ABC", quoted=True)) == (plain, quoted)
    assert (rules.table_key("ABC") == rules.table_key("abc")) is same


@pytest.mark.parametrize(("dialect", "expected"), [("duckdb", '"a""`b"'), ("mysql", '`a"``b`')])
def test_a_quote_in_a_name_is_doubled(dialect: Dialect, expected: str) -> None:
    assert DIALECTS[dialect].quote_name('a"`b') == expected
