"""The dependency graph of a board, kept and versioned."""

from pegboard.features.dependencies.impact import Breaks, what_breaks
from pegboard.features.dependencies.service import DependencyService
from pegboard.features.dependencies.views import graph_dict

__all__ = ["Breaks", "DependencyService", "graph_dict", "what_breaks"]
