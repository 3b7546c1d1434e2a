"""Where runs of graphs are kept."""

from pegboard.durability.journal import MemoryJournal
from pegboard.durability.memory import MemoryDurability

__all__ = ["MemoryDurability", "MemoryJournal"]
