"""Databases as tools: SQLite and PostgreSQL."""

from pegboard.core.ports.source import SourceKind
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.source import open_source

KIND = SourceKind(
    kind="sql",
    title="SQL database",
    config=SqlConfig,
    open=open_source,
    extra="sql",
    remote=True,
)

__all__ = ["KIND"]
