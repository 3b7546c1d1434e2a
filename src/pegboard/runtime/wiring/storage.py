"""What the board remembers: in a data directory, or in memory."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.storage import Storage


def storage(
    data: Path | None, *, store_arguments: bool, redact: Callable[[str], str] | None
) -> "Storage":
    """The storage of a board.

    Raises:
        ConfigError: The directory cannot be used, or another process uses it.
    """
    from pegboard.storage import MemoryStorage, open_storage

    if data is None:
        return MemoryStorage(store_arguments=store_arguments, redact=redact)
    return open_storage(data, store_arguments=store_arguments, redact=redact)
