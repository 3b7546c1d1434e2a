"""The dependency graph of a board, kept and versioned."""

from pegboard.features.dependencies.impact import Impact, find_impact
from pegboard.features.dependencies.service import DependencyService
from pegboard.features.dependencies.views import graph_dict

__all__ = ["DependencyService", "Impact", "find_impact", "graph_dict"]
