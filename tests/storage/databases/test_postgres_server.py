"""What the errors of a PostgreSQL server mean to a caller."""

import psycopg
import pytest
from psycopg import errors

from pegboard.storage.databases.postgres_server import is_in_the_way, is_own_fault, unavailable


@pytest.mark.parametrize(
    ("error", "reason", "retry_after"),
    [
        (errors.DiskFull(), "its disk is full", 30.0),
        (errors.InsufficientPrivilege(), "it rejects this user", None),
        (errors.DeadlockDetected(), "other transactions are changing the same rows", 1.0),
        (errors.LockNotAvailable(), "other transactions are changing the same rows", 1.0),
        (errors.TooManyConnections(), "it has too many connections", 1.0),
        (errors.ReadOnlySqlTransaction(), "it is read-only", 1.0),
        (errors.AdminShutdown(), "it cannot be reached", 1.0),
        (psycopg.OperationalError("gone"), "it cannot be reached", 1.0),
        (errors.NotNullViolation(), "it cannot be read or written", None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_each_error_has_its_reason(
    error: Exception, reason: str, retry_after: float | None
) -> None:
    told = unavailable(error, nothing_done=True)

    assert str(told) == f"The storage is unavailable: {reason}."
    assert (told.code, told.retry_after) == ("store_unavailable", retry_after)
    assert told.nothing_done


def test_what_nobody_knows_is_said() -> None:
    told = unavailable(psycopg.OperationalError("gone"), nothing_done=False)

    assert "Whether the last change was stored is not known" in str(told)
    assert not told.nothing_done


def test_the_statement_is_at_fault_or_somebody_else_is() -> None:
    assert is_own_fault(errors.NotNullViolation())
    assert is_own_fault(psycopg.DataError())
    assert not is_own_fault(psycopg.OperationalError())
    assert is_in_the_way(errors.SerializationFailure())
    assert not is_in_the_way(errors.NotNullViolation())
