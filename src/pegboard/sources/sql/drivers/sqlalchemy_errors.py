"""Translates errors of SQLAlchemy by their class: what each database writes is not known here."""

from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    NotSupportedError,
    ProgrammingError,
)

from pegboard.core.text.truncate import truncate
from pegboard.errors import InvalidRequest, PegboardError, SourceUnavailable, ToolFailed
from pegboard.sources.sql.catalog import Visibility
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.dialects import DIALECTS
from pegboard.sources.sql.driver import StatementRequest, too_slow

_MAX_CHARACTERS = 300
_MAX_TABLES = 5


def translate_error(
    error: Exception, request: StatementRequest | None, config: SqlConfig
) -> PegboardError:
    """Translate an error for the caller, the operator and the model."""
    title = DIALECTS[config.dialect].title
    match error:
        case TimeoutError():
            return too_slow(request, config.statement_timeout)
        case DBAPIError() if error.connection_invalidated:
            return SourceUnavailable(f"The connection to {title} was lost.")
        case ProgrammingError() | DataError() | IntegrityError() | NotSupportedError():
            return _refused(error, request, config)
        case DBAPIError() if request is not None:
            # many drivers call each fault of a statement an operational one
            return _refused(error, request, config)
        case _:
            return ToolFailed(f"{title} could not run the statement.")


def _refused(
    error: DBAPIError, request: StatementRequest | None, config: SqlConfig
) -> InvalidRequest:
    """Return the database's first line, unless it might name what is hidden."""
    title = DIALECTS[config.dialect].title
    text = "it refused the statement"
    if not Visibility(config).hides_anything:
        lines = (line.strip() for line in str(error.orig).splitlines())
        text = truncate(next(filter(None, lines), text), _MAX_CHARACTERS)
    return InvalidRequest(f"{title}: {text.rstrip('.')}.{_columns(request)}")


def _columns(request: StatementRequest | None) -> str:
    if request is None or not request.statement.tables:
        return ""
    tables = (
        f"{request.catalog.label(table.key)} "
        f"({', '.join(column.name for column in request.catalog.columns(table))})"
        for table in request.statement.tables[:_MAX_TABLES]
    )
    return f" The columns are {'; '.join(tables)}."
