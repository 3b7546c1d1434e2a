"""The folder of a process for copies of files that it works on."""

import os
import shutil
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from pegboard.errors import ConfigError

NAME = "working"
_PREFIX = "process-"
_LOCK = "lock"
_TRIES = 20


@contextmanager
def open_working_folder(data: Path | None) -> Generator[Path]:
    """A folder for this board alone, by its whole path; it is deleted with its files at the end.

    What a process that was killed has left is deleted first. Each folder has a lock that the kernel
    releases when its process ends, so that the folders of processes that run stay, also where
    several servers use the same data directory.

    Where a system has no such locks, which a data directory needs, the folder is a temporary one.

    Args:
        data: The data directory; None for a folder of this user below the system's temporary one.

    Raises:
        ConfigError: The folder cannot be made or locked.
    """
    if find_spec("fcntl") is None:
        with tempfile.TemporaryDirectory(prefix="pegboard-working-") as temporary:
            yield Path(temporary)
        return
    parent = _find_shared_parent() if data is None else data.absolute() / NAME
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if data is None:
            _check_own(parent)
        for folder in parent.glob(f"{_PREFIX}*"):
            _delete_abandoned(folder)
        folder, lock = _make_locked(parent)
    except OSError as error:
        raise ConfigError(
            f"{parent} cannot be used for copies of documents: {error.strerror or error}. Make it "
            "a folder that only this user can read and write, on a disk that can lock files."
        ) from error
    try:
        yield folder
    finally:
        # what cannot be deleted now is deleted at the next start
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _find_shared_parent() -> Path:
    """The same for all boards of a user that have no data directory."""
    return Path(tempfile.gettempdir(), f"pegboard-{NAME}-{os.geteuid()}")


def _check_own(parent: Path) -> None:
    """Refuse a folder that another user has made where everybody may make some."""
    state = parent.lstat()
    is_own = stat.S_ISDIR(state.st_mode) and state.st_uid == os.geteuid()
    if not is_own or state.st_mode & 0o077:
        raise PermissionError(0, "another user can read or change it")


def _make_locked(parent: Path) -> tuple[Path, int]:
    """A new folder, and the open file of its lock."""
    for _ in range(_TRIES):
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        lock = _take_lock(folder)
        if lock is not None:
            return folder, lock
    raise BlockingIOError(0, "other processes delete each new folder")


def _delete_abandoned(folder: Path) -> None:
    """Delete a folder whose process has ended."""
    lock = _take_lock(folder)
    if lock is not None:
        shutil.rmtree(folder, ignore_errors=True)  # another process may delete it, too
        os.close(lock)


def _take_lock(folder: Path) -> int | None:
    """The open file of the lock of a folder; None if another process has it, or has deleted it."""
    import fcntl

    path = folder / _LOCK
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), path.lstat()):
            return lock
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:
        os.close(lock)
        raise
    os.close(lock)
    return None
