"""Which tools need which: a graph of tool ids with versions."""

from pegboard.registry.dependencies.changes import Dependency, GraphChange, GraphDiff
from pegboard.registry.dependencies.declared import check_declared, declare, known_id
from pegboard.registry.dependencies.graph import Broken, DependencyGraph
from pegboard.registry.dependencies.versioned import Dependencies

__all__ = [
    "Broken",
    "Dependencies",
    "Dependency",
    "DependencyGraph",
    "GraphChange",
    "GraphDiff",
    "check_declared",
    "declare",
    "known_id",
]
