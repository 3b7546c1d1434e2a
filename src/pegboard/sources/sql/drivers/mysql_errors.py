"""Translates the errors of MySQL and MariaDB by their numbers.

Numbers: https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html and
https://mariadb.com/docs/server/reference/error-codes
"""

import re

import pymysql

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

_TOO_SLOW = frozenset({1317, 1969, 3024})
_AGAIN = frozenset({1205, 1213, 3572})
_NO_PERMISSION = frozenset({1142, 1143, 1227, 1370, 1419})
_LOST = frozenset({0, 1053, 1927, 2006, 2013, 2055, 4031})
_UNKNOWN = re.compile(r"Unknown column '([^']+)'")

_UNREACHABLE = {
    1040: "the server has no free connection",
    1044: "the user may not use the database in `url`",
    1045: "the user or the password in `url` is wrong",
    1049: "the database in `url` does not exist",
    1129: "the server blocks this host after too many failures",
    1130: "the server does not accept this host",
    1203: "the server has no free connection",
    1226: "the user has no free connection",
    1698: "the user or the password in `url` is wrong",
    2002: "no server answers there; check that it runs, its host and its port",
    2003: "no server answers there; check that it runs, its host and its port",
    2005: "the host name in `url` is unknown",
    2026: "the TLS settings of `url` and server do not fit",
}


def translate_error(
    error: Exception, request: StatementRequest | None, config: SqlConfig
) -> PegboardError:
    """Translate an error for the caller, the operator and the model."""
    if not isinstance(error, pymysql.Error):
        return Unavailable("The connection to the database was lost.", retry_after=1.0)
    number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    if number in _TOO_SLOW:
        return too_slow(request, config.statement_timeout)
    if number in _UNREACHABLE:
        # without host, user or database, which callers need not know
        return SourceUnavailable(f"MySQL cannot be reached: {_UNREACHABLE[number]}.")
    if number in _LOST:
        return Unavailable("The connection to the database was lost.", retry_after=1.0)
    if number in _AGAIN:
        return Unavailable(
            "Another statement held a conflicting lock.", retry_after=0.2, nothing_done=True
        )
    if number in _NO_PERMISSION:
        return ToolFailed("The database user of this source lacks the permission for this.")
    if isinstance(error, pymysql.InternalError) or number < 1000:
        return ToolFailed("The database could not run the statement.")
    message = str(error.args[1]).partition("\n")[0].rstrip(".") if len(error.args) > 1 else ""
    return InvalidRequest(f"MySQL: {message}.{_hint(message, request)}")


def _hint(message: str, request: StatementRequest | None) -> str:
    """Suggest visible columns for a misspelt one."""
    match = _UNKNOWN.search(message)
    if match is None or request is None:
        return ""
    name = match[1].rpartition(".")[2]
    known = [c.name for table in request.statement.tables for c in request.catalog.columns(table)]
    near = () if name in known else nearest(name, known)
    return f" Did you mean {' or '.join(near)}?" if near else ""
