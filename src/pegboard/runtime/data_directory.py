"""The default data directory: `.pegboard/` beside the board file, or in the current folder."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from pegboard.runtime.settings import environ

NAME = ".pegboard"


def default_data_directory(board: Path | None) -> Path:
    """The data directory of a board file that names none."""
    return (Path() if board is None else board.parent) / NAME


def state_data_directory(default: Path) -> Path:
    """The data directory in the user's state directory, where the default one cannot be written."""
    given = environ().get("XDG_STATE_HOME", "")
    base = Path(given) if given.startswith("/") else Path.home() / ".local" / "state"
    digest = hashlib.sha256(str(default.resolve()).encode()).hexdigest()
    return base / "pegboard" / digest[:16]


def make_data_directory(path: Path) -> str:
    """Make a default data directory, for this user alone and ignored by git.

    Returns:
        Why it cannot be used; empty if it can.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError), (path / ".gitignore").open("x") as file:
            file.write("*\n")
    except (OSError, RuntimeError) as error:
        return getattr(error, "strerror", None) or str(error)
    return "" if os.access(path, os.W_OK | os.X_OK) else "Permission denied"
