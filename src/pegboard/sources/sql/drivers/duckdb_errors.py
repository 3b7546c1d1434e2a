"""Translates DuckDB's errors by their class."""

import re

import duckdb

from pegboard.errors import (
    InvalidRequest,
    PegboardError,
    SourceUnavailable,
    ToolFailed,
    Unavailable,
)
from pegboard.sources.sql.catalog import nearest
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.driver import StatementRequest, too_slow

_CALLER = (
    duckdb.DataError,
    duckdb.IntegrityError,
    duckdb.ProgrammingError,
    duckdb.NotSupportedError,
)
_UNKNOWN = re.compile(r'Referenced column "([^"]+)"')


def translate_error(
    error: Exception, request: StatementRequest | None, config: SqlConfig
) -> PegboardError:
    """Translate an error for the caller, the operator and the model."""
    match error:
        case duckdb.InterruptException():
            return too_slow(request, config.statement_timeout)
        case duckdb.OutOfMemoryException():
            return InvalidRequest("The statement needs too much memory. Request less at once.")
        case duckdb.PermissionException():
            return InvalidRequest("The statement touches something that is not available here.")
        case duckdb.TransactionException():
            return Unavailable(
                "Another statement changed the same rows.", retry_after=0.2, nothing_done=True
            )
        case duckdb.IOException():
            return _cannot_open(str(error))
        case duckdb.ConnectionException() | duckdb.FatalException() | duckdb.InternalException():
            return Unavailable("The database file cannot be used now.", retry_after=1.0)
        case _ if isinstance(error, _CALLER):
            return InvalidRequest(f"DuckDB: {_first_line(error)}.{_hint(str(error), request)}")
        case _:
            return ToolFailed("DuckDB could not run the statement.")


def _cannot_open(text: str) -> PegboardError:
    if "lock" in text:
        return Unavailable(
            "Another program has the database file open for writing.",
            retry_after=1.0,
            nothing_done=True,
        )
    return SourceUnavailable("The file is not a readable DuckDB database.")


def _first_line(error: Exception) -> str:
    """Return the fault alone: the lines below it name columns and tables that may be hidden."""
    return str(error).partition("\n")[0].rstrip(".!")


def _hint(message: str, request: StatementRequest | None) -> str:
    match = _UNKNOWN.search(message)
    if match is None or request is None:
        return ""
    known = [c.name for table in request.statement.tables for c in request.catalog.columns(table)]
    near = () if match[1] in known else nearest(match[1], known)
    return f" Did you mean {' or '.join(near)}?" if near else ""
