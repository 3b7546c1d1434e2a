"""What the board remembers: history, starts of writes, stored results, first outcomes."""

from pegboard.storage.memory import MemoryStorage
from pegboard.storage.port import Storage
from pegboard.storage.sqlite import open_history, open_storage

__all__ = ["MemoryStorage", "Storage", "open_history", "open_storage"]
