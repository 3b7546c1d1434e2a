"""Translates PostgreSQL's errors by SQLSTATE.

Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

import re

import psycopg

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

TOO_LARGE = "pegboard: row of bytes: "
"""Marks the cast that fails where a row is too large."""

_CALLER = frozenset({"0A", "21", "22", "23", "2F", "38", "42", "44", "54", "P0"})
_LATER = frozenset({"08", "53", "55", "57", "58"})
_AGAIN = frozenset({"40"})
_NO_PERMISSION = "42501"
_NO_ENTRY = frozenset({"28000", "28P01", "3D000"})
_NAMES = re.compile(r'column (?:"([^"]+)"|(\S+)) does not exist')

_UNREACHABLE = (
    ("password authentication failed", "the user or the password in `url` is wrong"),
    ("no password supplied", "`url` has no password"),
    ("no pg_hba.conf entry", "the server does not accept this user from this host (pg_hba.conf)"),
    ('" does not exist', "the user or the database in `url` does not exist"),
    ("too many clients", "the server has no free connection"),
    ("remaining connection slots", "the server has no free connection"),
    ("starting up", "the server is starting"),
    ("shutting down", "the server is shutting down"),
    ("timeout expired", "the server does not answer; check host, port and firewall"),
    ("onnection refused", "nothing listens there; check that it runs, its host and its port"),
    ("No such file or directory", "no server has its socket there; check that it runs"),
    ("could not translate host name", "the host name in `url` is unknown"),
    ("Name or service not known", "the host name in `url` is unknown"),
    ("failed to resolve host", "the host name in `url` is unknown"),
    ("SSL", "the TLS settings of `url` and server do not fit"),
)


def translate_error(
    error: Exception, request: StatementRequest | None, config: SqlConfig, *, prefix: int
) -> PegboardError:
    """Translate an error for the caller, the operator and the model.

    `prefix` is the number of characters before the statement in the text that was sent.
    """
    if not isinstance(error, psycopg.Error):
        return ToolFailed("A text in the result is not valid UTF-8.")
    state = error.sqlstate
    if state is None or state in _NO_ENTRY:
        return _unreachable(error)
    if state == "57014":
        return too_slow(request, config.statement_timeout)
    if state[:2] in _CALLER and state != _NO_PERMISSION:
        return _callers_fault(error, request, config, prefix)
    return _not_the_callers_fault(state)


def _not_the_callers_fault(state: str) -> PegboardError:
    if state == _NO_PERMISSION:
        return ToolFailed("The database role of this source lacks the permission for this.")
    if state[:2] in _AGAIN or state == "55P03":
        return Unavailable(
            "Another statement held a conflicting lock.", retry_after=0.2, nothing_done=True
        )
    if state[:2] in _LATER:
        return Unavailable("The database is temporarily unavailable.", retry_after=1.0)
    return ToolFailed("PostgreSQL could not run the statement.")


def _callers_fault(
    error: psycopg.Error, request: StatementRequest | None, config: SqlConfig, prefix: int
) -> PegboardError:
    message = error.diag.message_primary or "the statement failed"
    if TOO_LARGE in message:
        return InvalidRequest(
            f"A row is larger than {config.max_value_bytes} bytes. Select fewer columns, or parts "
            "of them (substr)."
        )
    return InvalidRequest(
        f"PostgreSQL: {message}{_place(error, request, prefix)}.{_hint(message, request)}"
    )


def _place(error: psycopg.Error, request: StatementRequest | None, prefix: int) -> str:
    position = error.diag.statement_position
    if request is None or position is None:
        return ""
    offset = int(position) - 1 - prefix
    if not 0 <= offset <= len(request.sql):
        return ""
    near = " ".join(request.sql[offset:].split())[:30]
    return f" (near '{near}')" if near else " (at the end)"


def _hint(message: str, request: StatementRequest | None) -> str:
    """Suggest visible columns for a misspelt one. The server's own hint may name hidden ones."""
    match = _NAMES.search(message)
    if match is None or request is None:
        return ""
    name = (match[1] or match[2]).rpartition(".")[2]
    tables = request.statement.tables
    known = [c.name for table in tables for c in request.catalog.columns(table)]
    near = () if name in known else nearest(name, known)
    if not near:
        return ""
    quoted = [name if name == name.lower() else f'"{name}"' for name in near]
    return f" Did you mean {' or '.join(quoted)}?"


def _unreachable(error: psycopg.Error) -> PegboardError:
    """Return the reason without host, user or database, which callers need not know."""
    text = str(error)
    for sign, reason in _UNREACHABLE:
        if sign in text:
            return SourceUnavailable(f"PostgreSQL cannot be reached: {reason}.")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return Unavailable("The connection to PostgreSQL was lost.", retry_after=1.0)
    return ToolFailed("PostgreSQL's answer could not be read.")
