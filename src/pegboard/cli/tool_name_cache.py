"""Remembers the names of the tools of boards, for completion in the shell."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.runtime import Settings


def cache_tools(chosen: "Settings", names: Iterable[str]) -> None:
    """Remember the names of a board's tools for completion; failures are ignored."""
    with suppress(OSError, RuntimeError):  # RuntimeError: this user has no home folder
        path = _cache_path(chosen)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = "".join(f"{name}\n" for name in names)
        if not path.is_file() or path.read_text() != text:
            path.touch(mode=0o600)
            path.write_text(text)


def read_tool_names(chosen: "Settings") -> list[str]:
    """The names of a board's tools as it was seen last."""
    path = _cache_path(chosen)
    return path.read_text().split() if path.is_file() else []


def _cache_path(chosen: "Settings") -> Path:
    from hashlib import sha256

    from pegboard.runtime.holder import board_path
    from pegboard.runtime.settings import environ

    base = environ().get("XDG_CACHE_HOME") or Path.home() / ".cache"
    digest = sha256(board_path(chosen).encode()).hexdigest()[:16]
    return Path(base) / "pegboard" / "tools" / f"{digest}.txt"
