"""One process at a time writes to a data directory."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from pegboard.errors import ConfigError

FILE = "lock"
_MAX_BYTES = 20_000


class DirectoryLock:
    """An exclusive lock on a data directory, released by `release` or by the end of the process.

    The kernel holds it, so a crash leaves nothing to clean up; the file names the process that has
    it, and has its note if it left one. The lock is taken with an empty file, so nothing in it is
    older than the process that has it, and it is released with an empty file.
    """

    def __init__(self, directory: Path) -> None:
        """Take the lock.

        Raises:
            ConfigError: Another process has it, or the directory cannot be used.
        """
        path = directory / FILE
        self._is_held = False
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
        self._is_held = True
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
            if self._is_held:
                with suppress(OSError):
                    os.ftruncate(self._file, 0)
            os.close(self._file)
            self._file = -1

    def _abandon(self) -> str:
        holder, _ = _read_holder(os.pread(self._file, _MAX_BYTES, 0))
        self.release()
        return holder


def write_note(directory: Path, note: str) -> None:
    """Leave a line for other processes of this user, until the lock is released.

    The process must hold the lock. The line may contain a secret; failures are ignored.
    """
    with suppress(OSError):
        file = os.open(directory / FILE, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            os.fchmod(file, 0o600)
            os.write(file, f"{note}\n".encode())
        finally:
            os.close(file)


def read_note(directory: Path) -> tuple[int, str]:
    """The process that holds the lock, and the note that it left; 0 and empty for none.

    A file that another user owns, or that others may read, is not trusted.
    """
    try:
        file = os.open(directory / FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return 0, ""
    try:
        state = os.fstat(file)
        content = os.pread(file, _MAX_BYTES, 0)
    except OSError:
        return 0, ""
    finally:
        os.close(file)
    holder, note = _read_holder(content)
    is_own = state.st_uid == os.geteuid() and not state.st_mode & 0o077
    return int(holder) if holder.isdecimal() else 0, note if is_own else ""


def _read_holder(content: bytes) -> tuple[str, str]:
    """The process that holds the lock, and its note; the last line may be written just now."""
    who, note, *_ = *content.decode("ascii", "replace").split("\n")[:-1], "", ""
    return who.strip(), note.strip()


def _held_error(directory: Path, holder: str) -> ConfigError:
    who = f"process {holder}" if holder else "another process"
    if holder == str(os.getpid()):
        who = f"this process ({holder})"
    return ConfigError(
        f"The data directory {directory} is in use by {who}. Stop it, or use another directory "
        "with --data DIR."
    )
