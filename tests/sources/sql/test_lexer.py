"""The text that is checked is the text that runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.lexer import Dialect, TokenKind, fold_case, lex


@pytest.mark.parametrize(
    ("dialect", "sql", "text"),
    [
        ("sqlite", "SELECT 1 -- one\n, 2", "SELECT 1       \n, 2"),
        ("sqlite", "SELECT 1 -- one\r, 2", "SELECT 1"),
        ("postgresql", "SELECT 1 -- one\r, 2", "SELECT 1        , 2"),
        ("sqlite", "SELECT/* /* */1", "SELECT        1"),
        ("postgresql", "SELECT/* /* */ */1", "SELECT           1"),
        ("sqlite", "SELECT 1 /* open", "SELECT 1"),
        ("sqlite", "SELECT '--', \"/*\", [;]", "SELECT '--', \"/*\", [;]"),
        ("postgresql", "SELECT ';''--' ; ; ", "SELECT ';''--'"),
        ("postgresql", "SELECT a->>'x', b::int", "SELECT a->>'x', b::int"),
        ("mysql", "SELECT /*!50000 secret */ 1 -- x\n", "SELECT                    1"),
        ("mysql", "SELECT `a--b`, '/*'", "SELECT `a--b`, '/*'"),
        ("duckdb", "SELECT/* /* */ */1", "SELECT           1"),
    ],
)
def test_comments_become_blanks_and_the_rest_keeps_its_place(
    dialect: Dialect, sql: str, text: str
) -> None:
    lexed = lex(sql, dialect)

    assert lexed.text.rstrip() == text
    assert all(lexed.text[token.start :].startswith(token.text) for token in lexed.tokens)


@pytest.mark.parametrize(
    ("dialect", "sql", "message"),
    [
        ("sqlite", "", "no SQL statement"),
        ("sqlite", ";;", "no SQL statement"),
        ("sqlite", "SELECT 1; SELECT 2", r"one statement is run at a time. \(line 1, column 9\)"),
        ("sqlite", "SELECT 'a", r"quote is not closed.*column 8"),
        ("postgresql", "SELECT\n  E'a'", r"touches a word. \(line 2, column 4\)"),
        ("postgresql", "SELECT U&'a'", "Unicode escapes"),
        ("postgresql", "SELECT $$a$$", "Dollar quoting"),
        ("postgresql", "SELECT a$b", "Dollar quoting"),
        ("postgresql", "SELECT 1 /* /* */", "comment is not closed"),
        ("sqlite", "SELECT 1x", "not understood"),
        ("sqlite", "SELECT 1.2.3", "not understood"),
        ("sqlite", "SELECT {a}", "no place in SQL"),
        ("sqlite", "SELECT \x00", "no place in SQL"),
        ("sqlite", "SELECT\u2028 1", "no place in SQL"),
        ("sqlite", "SELECT (1", None),
        ("sqlite", "SELECT 1)", r"'\)' closes nothing"),
        ("postgresql", "SELECT (1]", r"'\]' closes nothing"),
        ("sqlite", "SELECT " + "(" * 41 + "1" + ")" * 41, "deeper than 40"),
        ("sqlite", "SELECT 1" + " " * 20_000, "at most 20000"),
        ("sqlite", "SELECT 1" + ", 1" * 1500, "has 3002 words and signs; at most 3000"),
        ("postgresql", "SELECT " + "array[" * 5 + "1" + "]" * 5, "4 deep"),
        ("postgresql", "SELECT a" + "[1]" * 61, "At most 60 square brackets"),
        ("postgresql", "SELECT `a`", "not closed, or touches"),
        ("mysql", 'SELECT "a"', "Write texts in"),
        ("mysql", "SELECT 'a\\'", "a backslash as a parameter"),
        ("mysql", "SELECT 1--1", "not understood"),
        ("mysql", "SELECT 1 # x", "not understood"),
        ("mysql", "SELECT @x", "not understood"),
        ("mysql", "SELECT 1 /* open", "not understood"),
        ("mysql", "SELECT _utf8mb4'a'", "apart from other words"),
        ("duckdb", "SELECT #1", "not understood"),
        ("duckdb", "SELECT $$a$$", "Dollar quoting"),
        ("duckdb", "SELECT {'a': 1}", "no place in SQL"),
    ],
)
def test_what_two_readers_could_read_differently_is_refused(
    dialect: Dialect, sql: str, message: str | None
) -> None:
    if message is None:
        assert lex(sql, dialect).tokens[-1].text == "1"  # the parser says what is missing
        return
    with pytest.raises(InvalidRequest, match=message):
        lex(sql, dialect)


def test_tokens_know_what_they_are_called() -> None:
    tokens = lex("SELECT \"A b\", [C], Name, :one, ?, 1.5e3, x'ff' FROM t", "sqlite").tokens

    assert [(token.kind, token.name) for token in tokens if token.text != ","] == [
        (TokenKind.WORD, "select"),
        (TokenKind.QUOTED, "a b"),
        (TokenKind.QUOTED, "c"),
        (TokenKind.WORD, "name"),
        (TokenKind.PARAMETER, "one"),
        (TokenKind.PARAMETER, ""),
        (TokenKind.NUMBER, "1.5e3"),
        (TokenKind.STRING, "x'ff'"),
        (TokenKind.WORD, "from"),
        (TokenKind.WORD, "t"),
    ]


def test_postgresql_keeps_the_case_of_quoted_names_and_slices_apart_from_parameters() -> None:
    tokens = lex('SELECT "A""b", a[1:n], x::int, :n, $12', "postgresql").tokens

    assert 'A"b' in [token.name for token in tokens if token.kind is TokenKind.QUOTED]
    assert [token.text for token in tokens if token.kind is TokenKind.PARAMETER] == [":n", "$12"]


def test_names_fold_as_the_databases_fold_them() -> None:
    assert fold_case("ABCxyz") == "abcxyz"
    assert fold_case("ÄB\u212a") == "Äb\u212a"


@given(st.text(max_size=60), st.sampled_from(["sqlite", "postgresql", "mysql", "duckdb"]))
def test_any_text_is_read_or_refused_and_reading_twice_changes_nothing(
    sql: str, dialect: Dialect
) -> None:
    try:
        once = lex(sql, dialect)
    except InvalidRequest:
        return
    assert lex(once.text, dialect) == once


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("snowflake", "SELECT 'a\\' FROM x"),
        ("snowflake", 'SELECT "a\\" FROM x'),
        ("snowflake", "SELECT 1 // 2"),
        ("bigquery", "SELECT 'it''s'"),
        ("bigquery", 'SELECT "x"'),
        ("hive", "SELECT ''''"),
        ("mssql", "SELECT [a]]b]"),
        ("mssql", "SELECT @x"),
        ("oracle", "SELECT q'[x]'"),
        ("oracle", "SELECT a:b"),
        ("trino", "SELECT {x}"),
    ],
)
def test_what_two_readings_of_another_dialect_split_differently_is_refused(
    dialect: Dialect, sql: str
) -> None:
    with pytest.raises(InvalidRequest):
        lex(sql, dialect)


@pytest.mark.parametrize(
    ("dialect", "sql", "name"),
    [
        ("mssql", "SELECT [a B]", "a b"),
        ("mssql", 'SELECT "a B"', "a b"),
        ("oracle", 'SELECT "a""B"', 'a"b'),
        ("doris", "SELECT `a``B`", "a`b"),
    ],
)
def test_names_of_other_dialects_are_in_their_quotes(dialect: Dialect, sql: str, name: str) -> None:
    assert lex(sql, dialect).tokens[1].name == name
