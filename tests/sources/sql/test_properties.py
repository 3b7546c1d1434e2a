"""Whatever gets through the guard changes nothing and shows nothing that is hidden."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sources.sql.attacks import (
    ATTACKS,
    HIDING,
    HIDING_MORE,
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


class _Runner:
    """One source on one loop for all examples of a property."""

    def __init__(self, url: str, **config: Any) -> None:
        self._runner = asyncio.Runner()
        self._opening = opened(url, statement_timeout=1, **config)
        self._asker: Asker = self._runner.run(self._opening.__aenter__())

    def ask(self, sql: str) -> str:
        """The answer or the refusal, as text."""
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


@settings(max_examples=300)
@given(sql=mutated(_SQLITE))
def test_no_mutation_changes_the_file_or_shows_what_is_hidden(
    sqlite: _Runner, one_vault: Path, sql: str
) -> None:
    before = one_vault.read_bytes()

    answer = sqlite.ask(sql)

    assert one_vault.read_bytes() == before
    assert SECRET not in answer


@settings(max_examples=150)
@given(sql=mutated(_POSTGRESQL))
def test_no_mutation_changes_rows_or_shows_what_is_hidden_in_postgresql(
    server: _Runner, sql: str
) -> None:
    answer = server.ask(sql)

    assert SECRET not in answer
    assert "'count': 3" in server.ask("SELECT count(*) FROM artist")
