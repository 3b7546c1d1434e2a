"""Safe reading of files that a configuration names: regular files, up to a size."""

import errno
import os
import stat
from pathlib import Path


def read_file(path: Path, *, most: int) -> bytes:
    """The content of a regular file, whole.

    Devices, pipes and sockets are refused before a byte is waited for; so is what is larger than
    it may be, whatever its size says.

    Args:
        path: A link is followed.
        most: Bytes that it may have.

    Raises:
        OSError: It is not there, no regular file, too large or not readable; `strerror` says which.
    """
    content = _read(path, most + 1, whole=True)
    if len(content) > most:
        raise _too_large(path, most)
    return content


def read_start(path: Path, *, most: int) -> bytes:
    """As much of a regular file as this, from its beginning.

    Raises:
        OSError: As `read_file`, but for its size.
    """
    return _read(path, most, whole=False)


def _read(path: Path, most: int, *, whole: bool) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError as error:
        raise OSError(errno.EINVAL, "it is no file name") from error
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise _irregular(path) from error
        raise
    try:
        found = os.fstat(descriptor)
        mode = found.st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder, not a file", str(path))
        if not stat.S_ISREG(mode):
            raise _irregular(path)
        if whole and found.st_size >= most:
            raise _too_large(path, most - 1)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)


def _too_large(path: Path, most: int) -> OSError:
    return OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))


def _irregular(path: Path) -> OSError:
    return OSError(errno.EINVAL, "it is a device, a pipe or a socket, not a file", str(path))
