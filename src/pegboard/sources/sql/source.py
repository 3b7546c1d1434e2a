"""A database as a source of tools."""

import importlib.util
from collections.abc import Callable, Sequence

from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.ports.source_services.address_guard import AddressGuard
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import PegboardError, SourceUnavailable
from pegboard.sources.sql.catalog import Catalog
from pegboard.sources.sql.client import DatabaseClient
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.database import SqlDatabase
from pegboard.sources.sql.driver import DatabaseDriver
from pegboard.sources.sql.lexer import Dialect
from pegboard.sources.sql.local_use import find_local_use
from pegboard.sources.sql.tools import DatabaseTools

_PING = 3.0
_EXTRA = "SQL databases need an extra: pip install 'pegboard[sql]'"
_EXTRAS: dict[Dialect, str] = {
    "mysql": "MySQL and MariaDB need an extra: pip install 'pegboard[mysql]'",
    "duckdb": "DuckDB needs an extra: pip install 'pegboard[duckdb]'",
}


async def open_source(name: str, config: SqlConfig, services: Services) -> Source:
    """Open a source for one database; it connects on first use.

    Raises:
        SourceUnavailable: The driver is not installed.
        ConfigError: The URL is not valid.
    """
    return SqlSource(name, _database(name, config, services))


def preview(name: str, config: SqlConfig, services: Services) -> ToolSpec | None:
    """Return the spec of a source's only tool, without its tables; None if it has more.

    Raises:
        SourceUnavailable: The driver is not installed.
    """
    if len(config.tools) != 1:
        return None
    nothing = Catalog(config=config, tables={}, touchable=frozenset(), hidden={})
    [tool] = DatabaseTools(name, _database(name, config, services)).build(nothing)
    return tool.spec


def _database(name: str, config: SqlConfig, services: Services) -> SqlDatabase:
    if importlib.util.find_spec("sqlglot") is None:
        raise SourceUnavailable(_EXTRAS.get(config.dialect, _EXTRA))
    return SqlDatabase(config, DatabaseClient(_driver(config, services), config, owner=name))


def _driver(config: SqlConfig, services: Services) -> DatabaseDriver:
    try:
        return _DRIVERS.get(config.dialect, _other)(config, services)
    except ImportError as error:
        raise SourceUnavailable(_EXTRAS.get(config.dialect, _EXTRA)) from error


def _sqlite(config: SqlConfig, services: Services) -> DatabaseDriver:
    from pegboard.sources.sql.drivers.sqlite import SqliteDriver

    return SqliteDriver(config, base_dir=services.base_dir)


def _postgresql(config: SqlConfig, services: Services) -> DatabaseDriver:
    from pegboard.sources.sql.drivers.postgres import PostgresDriver

    return PostgresDriver(config, guard=_guard_for(config, services))


def _mysql(config: SqlConfig, services: Services) -> DatabaseDriver:
    from pegboard.sources.sql.drivers.mysql import MysqlDriver

    return MysqlDriver(config, guard=_guard_for(config, services))


def _duckdb(config: SqlConfig, services: Services) -> DatabaseDriver:
    from pegboard.sources.sql.drivers.duckdb import DuckdbDriver

    return DuckdbDriver(config, base_dir=services.base_dir)


def _other(config: SqlConfig, services: Services) -> DatabaseDriver:
    del services
    from pegboard.sources.sql.drivers.sqlalchemy import SqlalchemyDriver

    return SqlalchemyDriver(config)


def _guard_for(config: SqlConfig, services: Services) -> AddressGuard | None:
    """What checks the addresses of a database; None where an operator has named a private one."""
    return None if find_local_use(config) else services.addresses


_DRIVERS: dict[Dialect, Callable[[SqlConfig, Services], DatabaseDriver]] = {
    "sqlite": _sqlite,
    "postgresql": _postgresql,
    "mysql": _mysql,
    "duckdb": _duckdb,
}


class SqlSource:
    """The tools of one database.

    ```python
    config = SqlConfig.model_validate({"url": "sqlite:///chinook.db"})
    source = await KIND.open("chinook", config, Services())
    [tool.spec.name for tool in await source.tools()]
    ```
    """

    def __init__(self, name: str, database: SqlDatabase) -> None:
        self._name = name
        self._database = database
        self._tools = DatabaseTools(name, database)

    @property
    def name(self) -> str:
        """The name of the source, the first part of its tools' wire names."""
        return self._name

    async def tools(self) -> Sequence[Tool]:
        """Return the tools list, describe and query, and execute if writes are allowed.

        Raises:
            SourceUnavailable: The database cannot be read, with what to check.
        """
        try:
            catalog = await self._database.catalog(max_age=0.0)
        except SourceUnavailable:
            raise
        except PegboardError as error:
            raise SourceUnavailable(str(error)) from error
        if catalog.unmatched:
            # a misspelt hidden table would be readable, so no tool is listed until it is corrected
            raise SourceUnavailable(_describe_unmatched(catalog.unmatched), permanent=True)
        return self._tools.build(catalog)

    async def health(self) -> Health:
        """Check whether the database responds and the configuration matches its tables."""
        try:
            await self._database.ping(_PING)
        except PegboardError as error:
            return Health(status=HealthStatus.UNHEALTHY, reason=str(error))
        known = self._database.known
        if known is not None and known.unmatched:
            return Health(
                status=HealthStatus.DEGRADED,
                reason=_describe_unmatched(known.unmatched),
            )
        return HEALTHY

    async def close(self) -> None:
        """Close all connections; safe to call twice."""
        await self._database.close()

    def on_change(self, notify: Callable[[], None]) -> None:
        """Set the callback for a change of the tables."""
        self._database.on_tables_changed(notify)


def _describe_unmatched(names: Sequence[str]) -> str:
    return (
        "The configuration names what the database does not have: "
        f"{', '.join(names)}. Correct the spelling, or remove it."
    )
