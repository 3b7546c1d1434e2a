import json
import logging
from collections.abc import Callable, Generator
from io import StringIO
from pathlib import Path

import pytest

from pegboard.observability import LogRecords, ReadableLines

Logged = Callable[[], list[str]]


@pytest.fixture
def log() -> Generator[tuple[logging.Logger, StringIO]]:
    """A logger whose records are written as JSON lines."""
    stream = StringIO()
    handler = LogRecords(stream)
    logger = logging.getLogger("tests.records")
    logger.propagate = False
    logger.addHandler(handler)
    yield logger, stream
    logger.removeHandler(handler)
    handler.close()


def fail() -> None:
    raise OSError("disk full")


def test_a_warning_of_a_library_is_a_line(log: tuple[logging.Logger, StringIO]) -> None:
    logger, stream = log
    logger.info("not this")
    logger.warning("runs: %s\nis late", "r1")

    (line,) = map(json.loads, stream.getvalue().splitlines())
    assert line.pop("time")
    assert line == {
        "level": "warning",
        "event": "log",
        "logger": "tests.records",
        "message": "runs: r1\nis late",
    }


def test_a_record_is_written_without_the_secrets_that_a_board_knows(
    log: tuple[logging.Logger, StringIO],
) -> None:
    logger, stream = log
    handler = next(item for item in logger.handlers if isinstance(item, LogRecords))
    handler.redact = lambda text: text.replace("s3cr3t", "***")
    try:
        raise OSError("postgresql://u:s3cr3t@h")
    except OSError:
        logger.exception("sources: %s", "s3cr3t")

    assert "s3cr3t" not in stream.getvalue()
    assert stream.getvalue().count("***") >= 3


def test_an_error_has_its_stack_in_json(log: tuple[logging.Logger, StringIO]) -> None:
    logger, stream = log
    try:
        fail()
    except OSError:
        logger.exception("storage: not written")

    (line,) = map(json.loads, stream.getvalue().splitlines())
    assert line["error"] == "OSError: disk full"
    assert "raise OSError" in line["stack"]


def test_a_terminal_shows_the_error_without_its_stack() -> None:
    stream = StringIO()
    handler = LogRecords(stream, line_format=ReadableLines())
    error = OSError("disk full")
    record = logging.LogRecord(
        "x", logging.ERROR, "", 1, "not written", None, (OSError, error, None)
    )
    handler.handle(record)

    assert stream.getvalue()[10:] == "error   not written: OSError: disk full\n"


@pytest.mark.parametrize("name", ["mcp.client", "client"])
def test_what_the_line_of_a_source_says_is_not_repeated(name: str) -> None:
    stream = StringIO()
    LogRecords(stream).handle(logging.LogRecord(name, logging.ERROR, "", 1, "m", None, None))

    assert stream.getvalue() == ""


def test_a_terminal_leaves_the_error_of_a_source_to_the_line_of_the_source() -> None:
    stream, error = StringIO(), ValueError("no")
    handler = LogRecords(stream, line_format=ReadableLines())
    about = (ValueError, error, None)
    handler.handle(logging.LogRecord("pegboard.sources", logging.ERROR, "", 1, "m", None, about))

    assert stream.getvalue() == ""


def test_records_are_appended_to_a_file(tmp_path: Path) -> None:
    handler = LogRecords(tmp_path / "log")
    handler.handle(logging.LogRecord("x", logging.WARNING, "", 1, "late", None, None))
    handler.close()

    assert json.loads((tmp_path / "log").read_text())["message"] == "late"


def test_an_exception_of_a_tool_is_left_to_the_line_of_its_call() -> None:
    stream = StringIO()
    handler = LogRecords(stream)

    handler.handle(logging.LogRecord("pegboard.tools", logging.ERROR, "", 0, "x", None, None))
    handler.close()

    assert stream.getvalue() == ""
