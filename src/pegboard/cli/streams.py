"""Where the command line writes to: what may be closed, full, or of a narrow encoding."""

import errno
import io
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pegboard.cli.exits import Exit
from pegboard.cli.output import note

_GONE = {errno.EPIPE}
_FULL = {errno.EBADF, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC}


@contextmanager
def streams() -> Generator[None]:
    """Let a command write, and end it with a line and a code where its answer cannot go.

    Raises:
        SystemExit: As the command ended, or 1 where stdout took less than all of the answer.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by who started it; a file opened later would get its number
            setattr(sys, name, _nothing())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what a tool says may fit no encoding
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.errno not in _GONE | _FULL:
            raise
        sys.stdout = _nothing()  # what is left over is not tried again at the end
        if error.errno in _FULL:
            note(f"pegboard: the answer cannot be written to stdout: {error.strerror}")
        raise SystemExit(Exit.FAILED) from error


def _nothing() -> io.TextIOWrapper:
    return Path(os.devnull).open("w", encoding="utf-8")
