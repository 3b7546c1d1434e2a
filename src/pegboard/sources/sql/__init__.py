"""Databases as tools: SQLite, PostgreSQL, MySQL, MariaDB, DuckDB, and others through SQLAlchemy."""

from pegboard.core.ports.source import SourceKind
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.local_use import find_local_use
from pegboard.sources.sql.source import open_source, preview

KIND = SourceKind(
    kind="sql",
    title="SQL database",
    config=SqlConfig,
    open=open_source,
    extra="sql",
    remote=True,
    preview=preview,
    find_local_use=find_local_use,
)

__all__ = ["KIND"]
