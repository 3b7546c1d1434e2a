"""What the numbers of MySQL and MariaDB mean to caller, operator and model."""

import pymysql
import pytest

from pegboard.errors import (
    InvalidRequest,
    PegboardError,
    SourceUnavailable,
    ToolFailed,
    Unavailable,
)
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.drivers.mysql_errors import translate_error


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (pymysql.OperationalError(3024, "x"), InvalidRequest, "longer than 10 s"),
        (pymysql.OperationalError(1969, "x"), InvalidRequest, "longer than 10 s"),
        (pymysql.OperationalError(1045, "for 'hush'@'h'"), SourceUnavailable, "user or the"),
        (pymysql.OperationalError(2003, "on 'hush'"), SourceUnavailable, "no server answers"),
        (pymysql.OperationalError(1205, "x"), Unavailable, "conflicting lock"),
        (pymysql.OperationalError(2013, "x"), Unavailable, "was lost"),
        (pymysql.InterfaceError(0, ""), Unavailable, "was lost"),
        (ConnectionResetError("x"), Unavailable, "was lost"),
        (pymysql.OperationalError(1142, "table 'hush'"), ToolFailed, "lacks the permission"),
        (pymysql.InternalError(1815, "x"), ToolFailed, "could not run"),
        (pymysql.DataError(1406, "Data too long."), InvalidRequest, "MySQL: Data too long."),
    ],
    ids=str,
)
def test_each_number_has_its_reader(
    error: Exception, kind: type[PegboardError], message: str
) -> None:
    config = SqlConfig.model_validate({"url": "mysql://u:hush@h/d"})

    result = translate_error(error, None, config)

    assert type(result) is kind
    assert message in str(result)
    assert "hush" not in str(result)
