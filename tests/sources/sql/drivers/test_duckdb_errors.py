"""What DuckDB's errors mean to caller, operator and model."""

import duckdb
import pytest

from pegboard.errors import (
    InvalidRequest,
    PegboardError,
    SourceUnavailable,
    ToolFailed,
    Unavailable,
)
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.drivers.duckdb_errors import translate_error


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (duckdb.InterruptException("x"), InvalidRequest, "longer than 10 s"),
        (duckdb.OutOfMemoryException("x"), InvalidRequest, "too much memory"),
        (duckdb.PermissionException("x /etc/passwd"), InvalidRequest, "not available here"),
        (duckdb.TransactionException("x"), Unavailable, "changed the same rows"),
        (duckdb.IOException("Could not set lock on file"), Unavailable, "open for writing"),
        (duckdb.IOException("x /secret/path"), SourceUnavailable, "not a readable DuckDB"),
        (duckdb.ConnectionException("x"), Unavailable, "cannot be used now"),
        (duckdb.FatalException("x"), Unavailable, "cannot be used now"),
        (duckdb.BinderException("One\nCandidates: hidden"), InvalidRequest, "DuckDB: One."),
        (duckdb.SequenceException("x"), ToolFailed, "could not run"),
    ],
    ids=str,
)
def test_each_class_has_its_reader(
    error: Exception, kind: type[PegboardError], message: str
) -> None:
    config = SqlConfig.model_validate({"url": "duckdb:///x.duckdb"})

    result = translate_error(error, None, config)

    assert type(result) is kind
    assert message in str(result)
    assert not {"hidden", "/etc/passwd", "/secret/path"} & set(str(result).split())
