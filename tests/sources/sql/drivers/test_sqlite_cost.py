"""What one statement makes SQLite compute between two checks of the time."""

from pathlib import Path
from typing import Any

import pytest
from tests.sources.sql.boards import opened

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.catalog import Catalog
from pegboard.sources.sql.driver import Statement, StatementRequest
from pegboard.sources.sql.drivers.sqlite_cost import limit_values
from pegboard.sources.sql.lexer import lex

MOST = 2**20
BIG = "hex(zeroblob(500000))"
HALF = "hex(zeroblob(250000))||'1'"


def limit_of(sql: str, *parameters: Any) -> int:
    statement = Statement(lexed=lex(sql, "sqlite"), kind="query", tables=())
    request = StatementRequest(
        statement=statement,
        catalog=Catalog.__new__(Catalog),
        sql=sql,
        parameters=parameters,
        limit=1,
        deadline=0.0,
        seconds=1.0,
    )
    return limit_values(request, MOST)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "SELECT replace(trim(body), 'a', 'b'), instr(body, ?) FROM t WHERE x LIKE '%abc%'",
        f"SELECT {', '.join(f'coalesce(round(sum(c{i}), 2), 0)' for i in range(25))} FROM t",
        "SELECT instr(body, ? || ':') FROM t WHERE x LIKE '%' || ? || '%' ESCAPE '!' OR y LIKE ?",
        "SELECT replace(replace(body, char(13) || char(10), ' '), CHAR(9), '') FROM t",
        "SELECT printf('%.2f and %10s', a, b), format(?, a) FROM t",
    ],
)
def test_usual_statements_have_the_whole_limit(sql: str) -> None:
    assert limit_of(sql, "needle") == MOST


def test_a_computed_pattern_or_many_functions_lower_the_limit() -> None:
    one, forty = (
        limit_of("SELECT instr(a, b)"),
        limit_of(f"SELECT {'instr(a, b),' * 39} instr(a,b)"),
    )

    assert MOST > one > forty > limit_of(f"SELECT {'instr(a, b),' * 200} instr(a,b)")
    assert 200_000 < one < 400_000
    assert limit_of("SELECT trim(a, b)") < 80_000
    assert limit_of("SELECT x LIKE 'a' || y") < MOST
    assert limit_of("SELECT x LIKE lower(y)") < MOST
    assert limit_of("SELECT x LIKE (y)") < MOST
    assert limit_of("SELECT like(y, x)") < MOST
    assert limit_of("SELECT instr(a, 'x' || b)") == one
    assert limit_of("SELECT trim(a, ?)", "x" * 10_000) < MOST
    assert limit_of(f"SELECT {'hex(a),' * 300} 1") < MOST


@pytest.mark.parametrize(
    ("sql", "parameters", "words"),
    [
        ("SELECT printf('%.*c', 2147483647, 'x')", [], "up to 1048576 times"),
        ("SELECT printf(?, 2147483647, 'x')", ["%-.*lc"], "up to 1048576 times"),
        ("SELECT format('%2147483647c', 'x')", [], "up to 1048576 times"),
        ("SELECT printf('%.999999c%.999999c', 'x', 'y')", [], "up to 1048576 times"),
        ("SELECT printf('%.*' || 'c', 2147483647, 'x')", [], "Write the format of printf"),
        (f"SELECT {f'instr({BIG}, {HALF}),' * 40} 1", [], "looks for a computed text"),
        (f"SELECT {f'replace({BIG}, {HALF}, 1),' * 40} 1", [], "looks for a computed text"),
    ],
)
async def test_what_keeps_a_core_busy_in_one_row_is_refused(
    one_vault: Path, sql: str, parameters: list[str], words: str
) -> None:
    async with opened(f"sqlite:///{one_vault}") as ask:
        with pytest.raises(InvalidRequest, match=words):
            await ask("query", sql=sql, parameters=parameters)

        assert await ask.rows(f"SELECT length({BIG})") == [[1_000_000]]
