"""Errors of SQLAlchemy by their class, with nothing of the connection in them."""

import pytest
from pydantic import SecretStr
from sqlalchemy.exc import (
    DBAPIError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
    SQLAlchemyError,
)

from pegboard.errors import InvalidRequest, PegboardError, SourceUnavailable, ToolFailed
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.drivers.sqlalchemy_errors import translate_error

_TEXT = Exception("\n  no column NAM\nin table x")


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (TimeoutError(), InvalidRequest, "longer than 10 s"),
        (ProgrammingError("x", {}, _TEXT), InvalidRequest, "^Oracle: no column NAM.$"),
        (ProgrammingError("x", {}, Exception("")), InvalidRequest, "^Oracle: it refused"),
        (
            OperationalError("x", {}, _TEXT, connection_invalidated=True),
            SourceUnavailable,
            "^The connection to Oracle was lost.$",
        ),
        (InterfaceError("x", {}, _TEXT), ToolFailed, "^Oracle could not run the statement.$"),
        (SQLAlchemyError("host h"), ToolFailed, "^Oracle could not run the statement.$"),
    ],
)
def test_each_class_has_its_own_kind(
    error: Exception, kind: type[PegboardError], message: str
) -> None:
    config = SqlConfig(url=SecretStr("oracle+oracledb://u:p@h/d"))

    with pytest.raises(kind, match=message):
        raise translate_error(error, None, config)


def test_a_text_that_may_name_what_is_hidden_is_not_shown() -> None:
    config = SqlConfig(url=SecretStr("oracle://u:p@h/d"), hidden_tables=("secrets",))
    error: DBAPIError = ProgrammingError("x", {}, Exception("did you mean secrets.key?"))

    assert str(translate_error(error, None, config)) == "Oracle: it refused the statement."
