"""How a statement begins decides what it is."""

import pytest

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.lexer import Dialect, lex
from pegboard.sources.sql.statements import explained, first_word_refusal


@pytest.mark.parametrize(
    ("dialect", "sql", "inner"),
    [
        ("sqlite", "EXPLAIN SELECT 1", "SELECT 1"),
        ("sqlite", "explain query plan SELECT 1", "SELECT 1"),
        ("postgresql", "EXPLAIN VERBOSE SELECT 1", "SELECT 1"),
        ("postgresql", "EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) SELECT (1)", "SELECT (1)"),
    ],
)
def test_explain_is_taken_off_and_the_rest_stays_where_it_is(
    dialect: Dialect, sql: str, inner: str
) -> None:
    lexed, was_there = explained(lex(sql, dialect), dialect)

    assert was_there
    assert lexed.text.strip() == inner
    assert lexed.text[lexed.tokens[0].start :].startswith("SELECT")


def test_without_explain_nothing_changes() -> None:
    lexed = lex("SELECT explain FROM t", "sqlite")

    assert explained(lexed, "sqlite") == (lexed, False)


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgresql", "EXPLAIN ANALYZE SELECT 1"),
        ("postgresql", "EXPLAIN VERBOSE ANALYZE SELECT 1"),
        ("postgresql", "EXPLAIN (ANALYZE) SELECT 1"),
        ("postgresql", "EXPLAIN (COSTS, analyze on) SELECT 1"),
        ("postgresql", "EXPLAIN (WAL) SELECT 1"),
        ("postgresql", "EXPLAIN ("),
        ("postgresql", "EXPLAIN (VERBOSE)"),
        ("sqlite", "EXPLAIN QUERY PLAN"),
    ],
)
def test_an_explain_that_runs_or_explains_nothing_is_refused(dialect: Dialect, sql: str) -> None:
    with pytest.raises(InvalidRequest):
        explained(lex(sql, dialect), dialect)


@pytest.mark.parametrize(
    ("sql", "refusal"),
    [
        ("((SELECT 1))", ""),
        ("with x as (select 1) select 1", ""),
        ("UPDATE t SET a = 1", "UPDATE changes data; only queries are run here."),
        ("CREATE TABLE t (a)", "CREATE changes more than rows; that is not offered here."),
        ("'SELECT'", "A statement begins with SELECT or WITH here, not with ''SELECT''."),
        ('"select" 1', "A statement begins with SELECT or WITH here, not with '\"select\"'."),
    ],
)
def test_the_first_word_is_a_keyword_that_is_allowed(sql: str, refusal: str) -> None:
    answer = first_word_refusal(lex(sql, "sqlite"), frozenset({"select", "with"}), writes=False)

    assert answer.startswith(refusal)
    assert bool(answer) == bool(refusal)
