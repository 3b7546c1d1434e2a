"""What PostgreSQL's codes mean to caller, operator and model."""

import psycopg
import pytest

from pegboard.errors import PegboardError, SourceUnavailable, ToolFailed, Unavailable
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.drivers.postgres_errors import translate_error


class _Coded(psycopg.Error):
    def __init__(self, state: str | None, text: str = "") -> None:
        super().__init__(text)
        self.sqlstate = state


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (_Coded("40001"), Unavailable, "conflicting lock"),
        (_Coded("55P03"), Unavailable, "conflicting lock"),
        (_Coded("53300"), Unavailable, "temporarily unavailable"),
        (_Coded("57P01"), Unavailable, "temporarily unavailable"),
        (_Coded("XX000"), ToolFailed, "could not run"),
        (_Coded("42501"), ToolFailed, "permission"),
        (_Coded("28P01", "password authentication failed"), SourceUnavailable, "password"),
        (_Coded(None, "strange"), ToolFailed, "could not be read"),
        (psycopg.OperationalError("strange"), Unavailable, "was lost"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), ToolFailed, "not valid UTF-8"),
    ],
    ids=str,
)
def test_each_code_has_its_reader(
    error: Exception, kind: type[PegboardError], message: str
) -> None:
    config = SqlConfig.model_validate({"url": "postgresql://u:hush@h/d"})

    result = translate_error(error, None, config, prefix=0)

    assert type(result) is kind
    assert message in str(result)
