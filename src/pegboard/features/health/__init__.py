"""The health of a board's tools and sources."""

from pegboard.features.health.replacements import Replacements, StandIns
from pegboard.features.health.service import BoardHealth

__all__ = ["BoardHealth", "Replacements", "StandIns"]
