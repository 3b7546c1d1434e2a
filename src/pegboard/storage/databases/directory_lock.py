"""One process at a time writes to a data directory."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from pegboard.errors import ConfigError

FILE = "lock"
_MAX_BYTES = 1_000


class DirectoryLock:
    """An exclusive lock on a data directory, released by `release` or by the end of the process.

    The kernel holds it, so a crash leaves nothing to clean up; the file names the process that has
    it, and its address if it has recorded one. The lock is taken with an empty file, so nothing in
    it is older than the one who has it.
    """

    def __init__(self, directory: Path) -> None:
        """Take the lock.

        Raises:
            ConfigError: Another process has it, or the directory cannot be used.
        """
        path = directory / FILE
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigError(
                f"The data directory {directory} cannot be used: {error.strerror}. Make it "
                "writable for this user, or use another with --data DIR."
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise _held_error(directory, self._abandon()) from error
        except OSError as error:
            self._abandon()
            raise ConfigError(
                f"The data directory {directory} cannot be locked: {error.strerror}. Use a "
                "directory on a local disk with --data DIR."
            ) from error
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            self.release()
            raise ConfigError(
                f"The data directory {directory} cannot be written: {error.strerror}. Free some "
                "space, or use another with --data DIR."
            ) from error

    def release(self) -> None:
        """Release the lock; safe to call twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _abandon(self) -> str:
        holder, _ = _read_holder(os.pread(self._file, _MAX_BYTES, 0))
        self.release()
        return holder


def write_address(directory: Path, url: str) -> None:
    """Record the address of this process, which holds the lock; failures are ignored."""
    with suppress(OSError):
        file = os.open(directory / FILE, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            os.write(file, f"{url}\n".encode())
        finally:
            os.close(file)


def read_address(directory: Path) -> str:
    """The address of the process that holds the lock; empty if it has not recorded one."""
    try:
        _, url = _read_holder((directory / FILE).read_bytes()[:_MAX_BYTES])
    except OSError:
        return ""
    return url


def _read_holder(content: bytes) -> tuple[str, str]:
    """The process that holds the lock, and its address."""
    who, url, *_ = *content.decode("ascii", "replace").splitlines(), "", ""
    return who.strip(), url.strip()


def _held_error(directory: Path, holder: str) -> ConfigError:
    who = f"process {holder}" if holder else "another process"
    if holder == str(os.getpid()):
        who = f"this process ({holder})"
    return ConfigError(
        f"The data directory {directory} is in use by {who}. Stop it, or use another directory "
        "with --data DIR."
    )
