"""Reading a history without opening its board, also while a server writes it."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from pegboard.core.ports.store import History
from pegboard.storage import open_history


def history(place: Path | str) -> AbstractAsyncContextManager[History]:
    """The history of a data directory, read-only, or of a PostgreSQL database.

    Raises:
        ConfigError: Nothing has been recorded there.
    """
    return open_history(place)
