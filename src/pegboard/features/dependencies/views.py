"""The dependency graph as JSON-compatible data."""

from collections.abc import Mapping
from typing import Any

from pegboard.registry.dependencies import DependencyGraph


def graph_dict(graph: DependencyGraph, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a graph as JSON-compatible data.

    Args:
        graph: The graph.
        names: Wire names by id; a node without one is no tool of the board.
    """
    return {
        "version": graph.version,
        "nodes": [
            {
                "id": node,
                "name": names.get(node, ""),
                "is_missing": node not in names,
                "origins": list(graph.origins_of_node(node)),
            }
            for node in graph.nodes
        ],
        "edges": [
            {
                "prerequisite": edge.prerequisite,
                "dependant": edge.dependant,
                "origins": list(edge.origins),
            }
            for edge in graph.edges
        ],
        "layers": [list(layer) for layer in graph.layers()],
    }
