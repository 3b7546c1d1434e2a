"""One process at a time writes to a data directory."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from pegboard.errors import ConfigError

FILE = "lock"
_LONGEST = 1_000


class DirectoryLock:
    """An exclusive lock on a data directory, released by `release` or by the end of the process.

    The kernel holds it, so a crash leaves nothing to clean up; the file says who has it, and where
    that listens if it has said so. Whoever takes the lock begins with an empty file, so nothing in
    it is older than the one who has it.
    """

    def __init__(self, directory: Path) -> None:
        """Take the lock.

        Raises:
            ConfigError: Somebody else has it, or the directory cannot be used.
        """
        path = directory / FILE
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigError(
                f"The data directory {directory} cannot be used: {error.strerror}. "
                "Make it writable for this user, or name another with --data DIR."
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise _taken(directory, self._abandon()) from error
        except OSError as error:
            self._abandon()
            raise ConfigError(
                f"The data directory {directory} cannot be locked: {error.strerror}. "
                "Keep it on a local disk and name it with --data DIR."
            ) from error
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            self.release()
            raise ConfigError(
                f"The data directory {directory} cannot be written: {error.strerror}. "
                "Make room there, or name another with --data DIR."
            ) from error

    def release(self) -> None:
        """Give it back; safe to call twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _abandon(self) -> str:
        holder, _ = _said(os.pread(self._file, _LONGEST, 0))
        self.release()
        return holder


def say_address(directory: Path, url: str) -> None:
    """Say where the process listens that has the lock: this one; where it cannot, nobody knows."""
    with suppress(OSError):
        file = os.open(directory / FILE, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            os.write(file, f"{url}\n".encode())
        finally:
            os.close(file)


def said_address(directory: Path) -> str:
    """Where the process listens that has the lock; empty where it has not said so."""
    try:
        _, url = _said((directory / FILE).read_bytes()[:_LONGEST])
    except OSError:
        return ""
    return url


def _said(content: bytes) -> tuple[str, str]:
    """Who has the lock, and where that listens."""
    who, url, *_ = *content.decode("ascii", "replace").splitlines(), "", ""
    return who.strip(), url.strip()


def _taken(directory: Path, holder: str) -> ConfigError:
    who = f"process {holder}" if holder else "another process"
    if holder == str(os.getpid()):
        who = f"this process ({holder})"
    return ConfigError(
        f"The data directory {directory} is in use by {who}. "
        "Stop it, or name another directory with --data DIR."
    )
