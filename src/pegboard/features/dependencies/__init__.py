"""The dependency graph of a board, kept and versioned."""

from pegboard.features.dependencies.service import DependencyService, graph_dict

__all__ = ["DependencyService", "graph_dict"]
