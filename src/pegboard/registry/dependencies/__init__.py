"""Which tools need which: a graph of tool ids with versions."""

from pegboard.registry.dependencies.changes import Dependency, GraphChange, GraphDiff
from pegboard.registry.dependencies.declared import check_declared, declare, resolve_id
from pegboard.registry.dependencies.graph import DependencyGraph, ImpactedTool
from pegboard.registry.dependencies.versioned import VersionedDependencies

__all__ = [
    "Dependency",
    "DependencyGraph",
    "GraphChange",
    "GraphDiff",
    "ImpactedTool",
    "VersionedDependencies",
    "check_declared",
    "declare",
    "resolve_id",
]
