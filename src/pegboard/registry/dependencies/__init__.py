"""Which tools need which: a graph of tool ids with versions."""

from pegboard.registry.dependencies.change import Dependency, GraphChange, GraphDiff
from pegboard.registry.dependencies.declared import declare, known_id
from pegboard.registry.dependencies.graph import Broken, DependencyGraph
from pegboard.registry.dependencies.versioned import Dependencies

__all__ = [
    "Broken",
    "Dependencies",
    "Dependency",
    "DependencyGraph",
    "GraphChange",
    "GraphDiff",
    "declare",
    "known_id",
]
