"""Makes the standard streams safe: they may be closed, and stdout and stderr full or narrow."""

import errno
import io
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pegboard.cli.exit_codes import Exit
from pegboard.cli.output.tables import note


@contextmanager
def safe_streams() -> Generator[None]:
    """Run a command; end it with a message and a code if its output cannot be written.

    Raises:
        SystemExit: As the command ended, or 1 if stdout did not take the whole answer.
    """
    with _open_stdin(), _replace_stream("stdout") as out, _replace_stream("stderr") as err:
        try:
            try:
                yield
            finally:
                sys.stdout.flush()
        except OSError as error:
            fault = out.fault or err.fault
            if fault is None:  # it is of something else, as of the data directory
                raise
            if out.fault is not None and out.fault.errno != errno.EPIPE:
                with suppress(OSError):
                    note(f"pegboard: the answer cannot be written to stdout: {fault.strerror}")
            raise SystemExit(Exit.FAILED) from error


class _StreamWithFault(io.TextIOWrapper):
    """A stream that remembers its own error, to tell it from errors of other files."""

    fault: OSError | None = None

    def write(self, text: str, /) -> int:
        with self._keeping():
            return super().write(text)

    def flush(self) -> None:
        with self._keeping():
            super().flush()

    @contextmanager
    def _keeping(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            self.fault = error
            raise


@contextmanager
def _open_stdin() -> Generator[None]:
    """Let a closed stdin be one that has ended; a file opened later would get its number."""
    before: Any = sys.stdin
    if before is not None:
        yield
        return
    with Path(os.devnull).open(encoding="utf-8") as empty:
        sys.stdin = empty
        try:
            yield
        finally:
            sys.stdin = before


@contextmanager
def _replace_stream(name: str) -> Generator[_StreamWithFault]:
    before: Any = getattr(sys, name)
    if before is None:  # closed by who started it; a file opened later would get its number
        before = _nothing()
    stream = _StreamWithFault(
        before.buffer,
        encoding=before.encoding,
        errors="backslashreplace",  # what a tool says may fit no encoding
        line_buffering=before.line_buffering,
        write_through=before.write_through,
    )
    setattr(sys, name, stream)
    try:
        yield stream
    finally:
        with suppress(OSError):
            stream.flush()
        if stream.fault is None:
            setattr(sys, name, before)
            stream.detach()
        else:  # what is left over is not tried again at the end
            setattr(sys, name, _nothing())


def _nothing() -> io.TextIOWrapper:
    return Path(os.devnull).open("w", encoding="utf-8")
