"""The health of a board's tools and sources."""

from pegboard.features.health.replacements import ReplacementProposals, Replacements
from pegboard.features.health.service import BoardHealth

__all__ = ["BoardHealth", "ReplacementProposals", "Replacements"]
