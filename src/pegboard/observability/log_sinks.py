"""Sinks of log lines: a file or a stream."""

import os
from pathlib import Path
from typing import Protocol, TextIO

from pegboard.errors import ConfigError


class Sink(Protocol):
    """Writes whole lines."""

    def write(self, lines: str) -> None:
        """Write lines; may block as long as the reader does.

        Raises:
            OSError: They could not be written; some may have been.
            ValueError: The stream is closed.
        """
        ...

    def close(self) -> None:
        """Close what this sink has opened."""
        ...


class FileSink:
    """Appends to a file, and to a new file after log rotation has moved it."""

    def __init__(self, path: Path) -> None:
        """Open the file; its folder is created if it is missing.

        Raises:
            ConfigError: The file cannot be written.
        """
        self._path = path
        self._torn = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._open()
        except OSError as error:
            raise ConfigError(
                f"The log file {path} cannot be written: {error.strerror}. "
                "Name a file in a folder that this user may write to."
            ) from error

    def write(self, lines: str) -> None:
        """Append lines; after a partial write they start on a new line."""
        if self._has_moved():
            os.close(self._file)
            self._file = self._open()
            self._torn = False
        data = memoryview(("\n" + lines if self._torn else lines).encode())
        while data:
            written = os.write(self._file, data)
            data = data[written:]
            self._torn = bool(data)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        return os.open(self._path, flags, 0o600)

    def _has_moved(self) -> bool:
        try:
            here = self._path.stat()
        except FileNotFoundError:
            return True
        opened = os.fstat(self._file)
        return (here.st_dev, here.st_ino) != (opened.st_dev, opened.st_ino)


class StreamSink:
    """Writes to a stream that its owner opens and closes."""

    def __init__(self, stream: TextIO) -> None:
        """Write to `stream`."""
        self._stream = stream

    def write(self, lines: str) -> None:
        """Write and flush."""
        self._stream.write(lines)
        self._stream.flush()

    def close(self) -> None:
        """Leave the stream to its owner."""
