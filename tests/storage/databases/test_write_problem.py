"""A failed write is reported for a minute, and logged once in that time."""

import logging

import pytest

from pegboard.errors import StoreUnavailable
from pegboard.storage.databases.write_problem import LASTS, WriteProblem
from pegboard.testing import FakeClock

FULL = StoreUnavailable("The storage is unavailable: its disk is full.")


def test_a_failed_write_is_forgotten_after_a_minute_without_another(clock: FakeClock) -> None:
    problem = WriteProblem(clock)
    assert str(problem) == ""

    problem.report(FULL, OSError("no space"))
    clock.advance(LASTS - 1)
    problem.report(FULL, OSError("no space"))
    clock.advance(LASTS - 1)

    assert str(problem) == "The storage is unavailable: its disk is full."
    clock.advance(1)
    assert str(problem) == ""


def test_failed_writes_are_logged_once_a_minute(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    problem = WriteProblem(clock)
    with caplog.at_level(logging.ERROR, "pegboard.storage"):
        for _ in range(3):
            problem.report(FULL, OSError("no space"))
        clock.advance(LASTS)
        problem.report(FULL, OSError("no space"))

    line = "storage: a write failed: The storage is unavailable: its disk is full. (no space)"
    assert [record.getMessage() for record in caplog.records] == [line, line]
