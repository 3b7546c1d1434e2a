"""Writes records of Python's `logging` as log lines."""

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from traceback import format_exception
from typing import Any, TextIO

from pegboard.observability.log_sinks import FileSink, Sink, StreamSink
from pegboard.observability.logs import format_json

_FOREIGN = ("mcp", "client")
"""Loggers of the MCP library; the source reports the same as its reason."""
_OF_TOOLS = "pegboard.tools"
"""The logger of unexpected exceptions of tools, which are in the lines of their calls."""


class LogRecords(logging.Handler):
    """Writes warnings and errors of all libraries as lines, beside those of `JsonLog`.

    Args:
        target: A text stream, which is not closed, or the path of a file.
        line_format: Formats the data of a line.

    Attributes:
        redact: Removes secrets from a line, as soon as the board knows them; None removes none.

    Raises:
        ConfigError: The file cannot be written.
    """

    def __init__(
        self,
        target: TextIO | Path | str,
        *,
        line_format: Callable[[Mapping[str, Any]], str] = format_json,
    ) -> None:
        super().__init__(logging.WARNING)
        is_path = isinstance(target, (str, Path))
        self._sink: Sink = FileSink(Path(target)) if is_path else StreamSink(target)
        self._line_format = line_format
        self.redact: Callable[[str], str] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        if record.name == _OF_TOOLS or record.name.partition(".")[0] in _FOREIGN:
            return
        try:
            line = self._line_format(self._redact(_data(record)))
            if line:
                self._sink.write(f"{line}\n")
        except (OSError, ValueError, TypeError):  # the disk is full, or its arguments do not fit
            self.handleError(record)

    def _redact(self, data: dict[str, Any]) -> dict[str, Any]:
        redact = self.redact
        return data if redact is None else {key: redact(str(text)) for key, text in data.items()}

    def close(self) -> None:
        """Close the file."""
        self._sink.close()
        super().close()


def _data(record: logging.LogRecord) -> dict[str, Any]:
    data: dict[str, Any] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "event": "log",
        "logger": record.name,
        "message": record.getMessage(),
    }
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        data["error"] = f"{type(error).__name__}: {error}"
        data["stack"] = "".join(format_exception(error))
    return data
