"""The source as a whole: the contract on both databases, health, what is missing."""

import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.sources.sql.boards import opened

from pegboard.core.health import HealthStatus
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source, SourceKind
from pegboard.errors import SourceUnavailable
from pegboard.sources.sql import KIND
from pegboard.sources.sql.config import SqlConfig
from pegboard.testing import SourceContract


class TestSqliteSource(SourceContract):
    kind: ClassVar[SourceKind] = KIND
    least_tools: ClassVar[int] = 4

    @pytest.fixture(autouse=True)
    def _use(self, chinook: Path) -> None:
        self.url = f"sqlite:///{chinook}"

    async def open_source(self) -> Source:
        config = SqlConfig.model_validate({"url": self.url, "allow_writes": True})
        return await KIND.open("shop", config, Services())


class TestPostgresqlSource(SourceContract):
    kind: ClassVar[SourceKind] = KIND
    least_tools: ClassVar[int] = 4

    @pytest.fixture(autouse=True)
    def _use(self, postgres: str) -> None:
        self.url = postgres

    async def open_source(self) -> Source:
        config = SqlConfig.model_validate({"url": self.url, "allow_writes": True})
        return await KIND.open("shop", config, Services())


class TestMysqlSource(SourceContract):
    kind: ClassVar[SourceKind] = KIND
    least_tools: ClassVar[int] = 4

    @pytest.fixture(autouse=True)
    def _use(self, mariadb: str) -> None:
        self.url = mariadb

    async def open_source(self) -> Source:
        config = SqlConfig.model_validate({"url": self.url, "allow_writes": True})
        return await KIND.open("shop", config, Services())


class TestDuckdbSource(SourceContract):
    kind: ClassVar[SourceKind] = KIND
    least_tools: ClassVar[int] = 4

    @pytest.fixture(autouse=True)
    def _use(self, duckdb_scratch: Path) -> None:
        self.url = f"duckdb:///{duckdb_scratch}"

    async def open_source(self) -> Source:
        config = SqlConfig.model_validate({"url": self.url, "allow_writes": True})
        return await KIND.open("shop", config, Services())


@pytest.mark.parametrize(
    "hidden",
    [
        pytest.param({"hidden_tables": ("Employe",)}, id="table"),
        pytest.param({"hidden_columns": {"Customer": ("Emial",)}}, id="column"),
    ],
)
async def test_a_misspelt_hidden_name_offers_nothing(hidden: dict[str, Any], chinook: Path) -> None:
    async with opened(f"sqlite:///{chinook}") as well:
        config = SqlConfig.model_validate({"url": f"sqlite:///{chinook}", **hidden})
        source = await KIND.open("shop", config, Services())
        with pytest.raises(
            SourceUnavailable, match=r"names what the database does not have: .*spelling"
        ):
            await source.tools()
        health = await source.health()
        await source.close()
        assert (await well.health()).status is HealthStatus.HEALTHY

    assert health.status is HealthStatus.DEGRADED
    assert "names what the database does not have" in health.reason


async def test_a_closed_source_says_so(chinook: Path) -> None:
    async with opened(f"sqlite:///{chinook}") as ask:
        source = ask.source

    assert (await source.health()).reason == "The database source is closed."
    with pytest.raises(SourceUnavailable, match="closed"):
        await source.tools()


@pytest.mark.parametrize(
    ("url", "missing", "line"),
    [
        ("sqlite:///chinook.db", "sqlglot", "SQL databases need an extra: pip install '{sql}'"),
        ("postgresql://u@h/d", "sqlglot", "SQL databases need an extra: pip install '{sql}'"),
        ("postgresql://u@h/d", "psycopg", "SQL databases need an extra: pip install '{sql}'"),
        ("mysql://u@h/d", "pymysql", "MySQL and MariaDB need an extra: pip install '{mysql}'"),
        ("duckdb:///x.db", "duckdb", "DuckDB needs an extra: pip install '{duckdb}'"),
        ("duckdb:///x.db", "pytz", "DuckDB needs an extra: pip install '{duckdb}'"),
        ("duckdb:///x.db", "sqlglot", "DuckDB needs an extra: pip install '{duckdb}'"),
    ],
)
async def test_a_missing_driver_is_one_line_that_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, url: str, missing: str, line: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    for driver in ("postgres", "mysql", "duckdb"):
        monkeypatch.delitem(sys.modules, f"pegboard.sources.sql.drivers.{driver}", raising=False)

    with pytest.raises(SourceUnavailable) as refused:
        async with opened(url):
            pass

    extras = {name: f"pegboard[{name}]" for name in ("sql", "mysql", "duckdb")}
    assert str(refused.value) == line.format(**extras)


@pytest.mark.slow
def test_naming_the_kind_loads_no_driver_and_no_parser() -> None:
    import subprocess

    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            (
                "import sys, pegboard.sources.sql; "
                "drivers = {'psycopg', 'sqlglot', 'pymysql', 'duckdb', 'sqlalchemy'}; "
                "print(sorted(drivers & sys.modules.keys()))"
            ),
        ],
        capture_output=True,
        text=True,
        check=True,
    )

    assert loaded.stdout.strip() == "[]"
