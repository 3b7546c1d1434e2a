"""One process at a time writes to a data directory."""

import fcntl
import os
from pathlib import Path

from pegboard.errors import ConfigError

FILE = "lock"


class DirectoryLock:
    """An exclusive lock on a data directory, released by `release` or by the end of the process.

    The kernel holds it, so a crash leaves nothing to clean up; the file says who has it.
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
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Give it back; safe to call twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _abandon(self) -> str:
        holder = os.pread(self._file, 32, 0).decode("ascii", "replace").strip()
        self.release()
        return holder


def _taken(directory: Path, holder: str) -> ConfigError:
    who = f"process {holder}" if holder else "another process"
    if holder == str(os.getpid()):
        who = f"this process ({holder})"
    return ConfigError(
        f"The data directory {directory} is in use by {who}. "
        "Stop it, or name another directory with --data DIR."
    )
