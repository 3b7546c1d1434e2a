"""Where runs of graphs are kept."""

from pegboard.durability.journal import MemoryJournal
from pegboard.durability.memory import MemoryDurability
from pegboard.durability.stored import StoredDurability

__all__ = ["MemoryDurability", "MemoryJournal", "StoredDurability"]
