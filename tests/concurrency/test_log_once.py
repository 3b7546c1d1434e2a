import logging

import pytest

from pegboard.concurrency.log_once import log_once

_LOG = logging.getLogger("pegboard.tests")


def test_the_same_failure_is_a_warning_once_and_has_its_stack(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG):
        for text in ("one", "one", "two"):
            try:
                raise ValueError(text)
            except ValueError as error:
                log_once(_LOG, "lang__crm failed", error)

    ours = [record for record in caplog.records if record.name == _LOG.name]
    assert [(record.levelname, record.getMessage()) for record in ours] == [
        ("WARNING", "lang__crm failed"),
        ("DEBUG", "lang__crm failed"),
        ("WARNING", "lang__crm failed"),
    ]
    assert [str(record.exc_info[1]) for record in ours if record.exc_info] == ["one", "one", "two"]


def test_what_was_told_long_ago_is_told_again(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for number in (*range(300), 0):
            log_once(_LOG, f"source {number}", ValueError("x"))

    assert [record.getMessage() for record in caplog.records].count("source 0") == 2
