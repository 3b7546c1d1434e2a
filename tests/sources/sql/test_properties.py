"""Whatever gets through the guard changes nothing and shows nothing that is hidden."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.sql.attacks import (
    ATTACKS,
    DUCKDB_ATTACKS,
    HIDING,
    HIDING_MORE,
    MYSQL_ATTACKS,
    POSTGRESQL_ATTACKS,
    READS,
    SECRET,
    SQLITE_ATTACKS,
)
from tests.sources.sql.boards import Asker, opened

from pegboard.errors import PegboardError

_PIECE = re.compile(r"\s+|\w+|'(?:[^']|'')*'|\"[^\"]*\"|.", re.DOTALL)
_STATEMENTS = [*READS.values(), *(s for s in ATTACKS.values() if len(s) < 300)]
_SQLITE = [*_STATEMENTS, *SQLITE_ATTACKS.values()]
_POSTGRESQL = [*_STATEMENTS, *POSTGRESQL_ATTACKS.values()]
_MYSQL = [*_STATEMENTS, *MYSQL_ATTACKS.values()]
_DUCKDB = [*_STATEMENTS, *DUCKDB_ATTACKS.values()]
_SPICE = [
    "employee",
    "secret",
    "customer",
    "email",
    "phonebook",
    "staff",
    "artist",
    "*",
    "c.*",
    "(SELECT secret FROM employee)",
    "WITH employee AS (SELECT 1) ",
    " UNION SELECT secret FROM employee",
    ", employee",
    " AS artist",
    "--",
    "/*",
    "*/",
    "\n",
    "\r",
    ";",
    "'",
    '"',
    "[",
    "`",
    "(",
    ")",
    " NATURAL JOIN employee",
    " USING (email)",
    "main.",
    "public.",
    "vault.",
    "/*!",
    "# ",
    "COLUMNS(*)",
    " INTO OUTFILE 'x'",
]


@st.composite
def mutated(draw: st.DrawFn, statements: list[str]) -> str:
    """A statement that was cut up, spiced, and put together with parts of others."""
    pieces = _PIECE.findall(draw(st.sampled_from(statements)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(pieces)))
        match draw(st.sampled_from(["spice", "drop", "graft", "repeat"])):
            case "spice":
                pieces.insert(at, draw(st.sampled_from(_SPICE)))
            case "drop":
                del pieces[at : at + draw(st.integers(1, 3))]
            case "graft":
                other = _PIECE.findall(draw(st.sampled_from(statements)))
                start = draw(st.integers(0, len(other)))
                pieces[at:at] = [" ", *other[start : start + draw(st.integers(1, 8))], " "]
            case _:
                pieces[at:at] = pieces[max(0, at - 2) : at]
    return "".join(pieces)


_TABLES = [*["artist"] * 4, *["phonebook"] * 2, "customer", "employee", "staff", "letters"]
_NAMES = ["artist", "employee", "customer", "x", "y", "x", "y", "staff", "album"]
_COLUMNS = [
    "*",
    "*",
    "name",
    "id",
    "count(*)",
    "secret",
    "email",
    "1 AS id, 'a' AS name",
    "max(name)",
]


@st.composite
def composed(draw: st.DrawFn, depth: int = 2) -> str:
    """A query that mostly is valid, full of names that mean one thing here and another there."""
    with_ = ""
    if depth and draw(st.booleans()):
        names = draw(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=2, unique=True))
        recursive = draw(st.sampled_from(["", "", "RECURSIVE "]))
        bodies = [f"{name} AS ({draw(composed(depth - 1))})" for name in names]
        with_ = f"WITH {recursive}{', '.join(bodies)} "
    text = f"SELECT {draw(_columns(depth))} FROM {draw(_source(depth))}"
    if draw(st.integers(0, 3)) == 0:
        text += f" CROSS JOIN {draw(_source(depth))}"
    if depth and draw(st.integers(0, 3)) == 0:
        text += f" WHERE EXISTS ({draw(composed(depth - 1))})"
    if depth and draw(st.integers(0, 3)) == 0:
        text += f" UNION ALL {draw(composed(0))}"
    return with_ + text


@st.composite
def _source(draw: st.DrawFn, depth: int) -> str:
    alias = draw(st.sampled_from(["", "", *(f" AS {name}" for name in _NAMES)]))
    if depth and draw(st.booleans()):
        return f"({draw(composed(depth - 1))}){alias or ' AS x'}"
    return draw(st.sampled_from([*_TABLES, "x", "y", "x", "y", "album"])) + alias


@st.composite
def _columns(draw: st.DrawFn, depth: int) -> str:
    if depth and draw(st.integers(0, 5)) == 0:
        return f"({draw(composed(depth - 1))} LIMIT 1) AS name"
    if draw(st.integers(0, 3)) == 0:
        return f"{draw(st.sampled_from(_NAMES))}.{draw(st.sampled_from(['*', 'name', 'secret']))}"
    return draw(st.sampled_from(_COLUMNS))


class _Runner:
    """One source on one loop for all examples of a property."""

    def __init__(self, url: str, **config: Any) -> None:
        self._runner = asyncio.Runner()
        self._opening = opened(url, statement_timeout=60, **config)
        self._asker: Asker = self._runner.run(self._opening.__aenter__())

    def ask(self, sql: str, *, seconds: float = 1.0) -> str:
        """The answer or the refusal, as text."""
        self._asker.seconds = seconds
        try:
            return str(self._runner.run(self._asker("query", sql=sql)))
        except PegboardError as error:
            return str(error)

    def close(self) -> None:
        self._runner.run(self._opening.__aexit__(None, None, None))
        self._runner.close()


@pytest.fixture(scope="module")
def sqlite(one_vault: Path) -> Iterator[_Runner]:
    runner = _Runner(f"sqlite:///{one_vault}", **HIDING)
    yield runner
    runner.close()


@pytest.fixture(scope="module")
def server(postgres: str) -> Iterator[_Runner]:
    runner = _Runner(postgres, **HIDING_MORE)
    yield runner
    runner.close()


@pytest.mark.slow
@pytest.mark.timeout(120)
@given(sql=mutated(_SQLITE) | composed() | composed())
def test_no_statement_changes_the_file_or_shows_what_is_hidden(
    sqlite: _Runner, one_vault: Path, sql: str
) -> None:
    before = one_vault.read_bytes()

    answer = sqlite.ask(sql)

    assert one_vault.read_bytes() == before
    assert SECRET not in answer


@pytest.mark.slow
@pytest.mark.timeout(120)
@given(sql=mutated(_POSTGRESQL) | composed() | composed())
def test_no_statement_changes_rows_or_shows_what_is_hidden_in_postgresql(
    server: _Runner, sql: str
) -> None:
    answer = server.ask(sql)

    assert SECRET not in answer
    assert "'count': 3" in server.ask("SELECT count(*) FROM artist", seconds=60)


@pytest.fixture(scope="module")
def maria(mariadb: str) -> Iterator[_Runner]:
    runner = _Runner(mariadb, **HIDING)
    yield runner
    runner.close()


@pytest.fixture(scope="module")
def duck(duckdb_vault: Path) -> Iterator[_Runner]:
    runner = _Runner(f"duckdb:///{duckdb_vault}", **HIDING)
    yield runner
    runner.close()


@pytest.mark.timeout(120)
@given(sql=mutated(_MYSQL) | composed() | composed())
def test_no_statement_changes_rows_or_shows_what_is_hidden_in_mariadb(
    maria: _Runner, sql: str
) -> None:
    answer = maria.ask(sql)

    assert SECRET not in answer
    assert "'count(*)': 3" in maria.ask("SELECT count(*) FROM artist", seconds=60)


@pytest.mark.slow
@pytest.mark.timeout(120)
@given(sql=mutated(_DUCKDB) | composed() | composed())
def test_no_statement_changes_the_file_or_shows_what_is_hidden_in_duckdb(
    duck: _Runner, duckdb_vault: Path, sql: str
) -> None:
    before = duckdb_vault.read_bytes()

    answer = duck.ask(sql)

    assert duckdb_vault.read_bytes() == before
    assert SECRET not in answer
