"""Back ends that store runs of graphs."""

from pegboard.durability.memory.durability import MemoryDurability
from pegboard.durability.memory.journal import MemoryJournal
from pegboard.durability.stored import StoredDurability

__all__ = ["MemoryDurability", "MemoryJournal", "StoredDurability"]
