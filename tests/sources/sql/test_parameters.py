"""Statements and parameters fit each other, or the caller hears why."""

from typing import Any

import pytest

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.lexer import Dialect, lex
from pegboard.sources.sql.parameters import bind


@pytest.mark.parametrize(
    ("dialect", "sql", "parameters", "text", "bound"),
    [
        ("sqlite", "SELECT ?, ?", [1, "a"], "SELECT ?, ?", [1, "a"]),
        ("sqlite", "SELECT :a, :b", {"b": 2, "a": 1}, "SELECT :a, :b", {"a": 1, "b": 2}),
        ("sqlite", "SELECT 1", None, "SELECT 1", []),
        ("postgresql", "SELECT $2, $1", [1, None], "SELECT $2, $1", [1, None]),
        ("postgresql", "SELECT :a, :b, :a", {"b": 2, "a": True}, "SELECT $1, $2, $1", [True, 2]),
        ("postgresql", "SELECT x::int, ':a'", {}, "SELECT x::int, ':a'", []),
        ("postgresql", "SELECT $1", [[1, 2]], "SELECT $1", [[1, 2]]),
        ("duckdb", "SELECT :a, :a", {"a": [1]}, "SELECT $1, $1", [[1]]),
        ("mysql", "SELECT 1 -?, ?", [-2, 2.5], "SELECT 1 -(-2), 2.5", []),
        ("mysql", "SELECT ?, ?", [None, True], "SELECT NULL, TRUE", []),
        ("mysql", "SELECT :a, ':a'", {"a": "'\\"}, "SELECT _utf8mb4 X'275c', ':a'", []),
    ],
)
def test_parameters_are_bound(
    dialect: Dialect, sql: str, parameters: Any, text: str, bound: Any
) -> None:
    assert bind(lex(sql, dialect), parameters, dialect) == (text, bound)


@pytest.mark.parametrize(
    ("dialect", "sql", "parameters", "message"),
    [
        ("sqlite", "SELECT ?", [], r"takes 1 parameters \(\?\), but 0"),
        ("sqlite", "SELECT 1", [1], "takes 0 parameters"),
        ("sqlite", "SELECT :a", [1], ":a needs parameters as an object"),
        ("sqlite", "SELECT :a", None, ":a needs parameters as an object"),
        ("sqlite", "SELECT ?", {"a": 1}, "written :name"),
        ("sqlite", "SELECT :a", {}, ":a is missing"),
        ("sqlite", "SELECT :a", {"a": 1, "b": 2}, "'b' is not used"),
        ("postgresql", "SELECT $2", [1], r"takes 2 parameters \(\$1, \$2"),
        ("sqlite", "SELECT ?", [2**63], "64-bit"),
        ("sqlite", "SELECT ?", [[1]], "cannot be bound"),
        ("sqlite", "SELECT ?", [{"a": 1}], "cannot be bound"),
        ("postgresql", "SELECT $1", ["a\x00"], "cannot be bound"),
        ("mysql", "SELECT ?", [float("inf")], "not a finite number"),
        ("mysql", "SELECT ?", [[1]], "cannot be bound"),
        ("postgresql", "SELECT $1", [["\ud800"]], "cannot be bound"),
    ],
)
def test_what_does_not_fit_is_said(
    dialect: Dialect, sql: str, parameters: Any, message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        bind(lex(sql, dialect), parameters, dialect)
