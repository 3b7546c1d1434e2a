"""The storage of a board: in SQLite, PostgreSQL or memory."""

from pegboard.storage.memory.storage import MemoryStorage
from pegboard.storage.open import has_accounts, open_history, open_storage
from pegboard.storage.port import Storage

__all__ = ["MemoryStorage", "Storage", "has_accounts", "open_history", "open_storage"]
