"""Writes files atomically, and keeps a backup."""

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

from pegboard.errors import ConfigError

_LOCK_WAIT_SECONDS = 10.0
_PAUSE = 0.02


@contextlib.contextmanager
def lock_folder(path: Path, *, patience: float = _LOCK_WAIT_SECONDS) -> Generator[None]:
    """Hold a lock while a file is read, changed and written.

    The folder is locked, since the file itself is replaced. The kernel releases the lock when a
    process dies. Where a folder cannot be locked (some network disks), `write_file` with `before`
    still detects changes of others.

    Args:
        path: The file; its folder is created if it is missing.
        patience: Seconds to wait for the lock.

    Raises:
        ConfigError: Another process keeps the lock, or the folder cannot be used.
    """
    folder = path.resolve().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(f"{error.filename or folder}: {error.strerror}") from error
    try:
        _lock(handle, path, patience)
        yield
    finally:
        os.close(handle)


def write_file(
    path: Path, text: str, *, backup: bool = False, before: str | None = None
) -> Path | None:
    """Write a temporary file and move it to the path.

    Args:
        path: The path; it and its folder may be missing, and a link is followed.
        text: The whole content.
        backup: Whether to keep the previous content beside it, as `NAME.bak`.
        before: The content that was read, empty for a missing file; None overwrites any content.

    Returns:
        The path of the backup; None when there is none.

    Raises:
        ConfigError: It cannot be written, or has been changed since it was read.
    """
    path = path.resolve()
    kept: Path | None = None
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path} is not a regular file and is not overwritten")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if before is not None:
            _refuse_changed(path, before)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        if backup and path.exists():
            kept = path.with_name(f"{path.name}.bak")
            _replace(kept, path.read_bytes(), mode)
        _replace(path, text.encode(), mode)
    except OSError as error:
        raise ConfigError(f"{error.filename or path}: {error.strerror}") from error
    return kept


def _lock(handle: int, path: Path, patience: float) -> None:
    ends = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= ends:
                raise ConfigError(
                    f"{path}: another process is changing a file in this folder; try again when "
                    "it has finished"
                ) from error
            time.sleep(_PAUSE)
        except OSError:
            return
        else:
            return


def _refuse_changed(path: Path, before: str) -> None:
    now = path.read_bytes() if path.exists() else b""
    if now != before.encode():
        raise ConfigError(
            f"{path} was changed by another process in the meantime and is left unchanged; try "
            "again"
        )


def _replace(path: Path, content: bytes, mode: int) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
