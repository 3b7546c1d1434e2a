"""Writing somebody's file: whole or not at all, with what it was before beside it."""

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

from pegboard.errors import ConfigError

_PATIENCE = 10.0
_PAUSE = 0.02


@contextlib.contextmanager
def alone(path: Path, *, patience: float = _PATIENCE) -> Generator[None]:
    """Be the only one of us who reads, changes and writes a file.

    Its folder is locked, since another file takes the place of this one. The kernel gives the lock
    back when a process dies. Where a folder cannot be locked (some network disks), nobody waits,
    and `write_whole` with `before` sees what others did.

    Args:
        path: The file; its folder is made where it is missing.
        patience: Seconds to wait for another.

    Raises:
        ConfigError: Another process does not end, or the folder cannot be used.
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


def write_whole(
    path: Path, text: str, *, backup: bool = False, before: str | None = None
) -> Path | None:
    """Write a file by way of another that takes its place at once.

    Args:
        path: May be missing, with its folder; a link is followed.
        text: The whole content.
        backup: Whether what was there is kept beside it, as `NAME.bak`.
        before: What was read of it, empty for a missing file; None writes over whatever is there.

    Returns:
        Where the content of before is kept; None when there is none.

    Raises:
        ConfigError: It cannot be written, or somebody else has changed it since it was read.
    """
    path = path.resolve()
    kept: Path | None = None
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path} is not a file, and is not written over")
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
                    f"{path}: another process is changing a file of this folder; try again when "
                    "it has ended"
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
            f"{path} was changed by somebody else meanwhile, and is left as it is; try again"
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
