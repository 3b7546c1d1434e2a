"""Documents cut into pieces: recursive, by heading, fixed, semantic."""

from pegboard.knowledge.cut.cut import cut
from pegboard.knowledge.cut.settings import CutSettings

__all__ = ["CutSettings", "cut"]
