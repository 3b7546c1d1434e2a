"""Writing somebody's file: whole or not at all, with what it was before beside it."""

import contextlib
import os
import tempfile
from pathlib import Path

from pegboard.errors import ConfigError


def write_whole(path: Path, text: str, *, backup: bool = False) -> Path | None:
    """Write a file by way of another that takes its place at once.

    Args:
        path: May be missing, with its folder; a link is followed.
        text: The whole content.
        backup: Whether what was there is kept beside it, as `NAME.bak`.

    Returns:
        Where the content of before is kept; None when there is none.

    Raises:
        ConfigError: It cannot be written.
    """
    path = path.resolve()
    kept: Path | None = None
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path} is not a file, and is not written over")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        if backup and path.exists():
            kept = path.with_name(f"{path.name}.bak")
            _replace(kept, path.read_bytes(), mode)
        _replace(path, text.encode(), mode)
    except OSError as error:
        raise ConfigError(f"{error.filename or path}: {error.strerror}") from error
    return kept


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
