"""The dependency graph as data: as it is, and what somebody does to it, for the audit trail."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pegboard.core.event import BoardChanged, digest_of
from pegboard.core.principal import Principal
from pegboard.registry.dependencies import DependencyGraph, GraphChange

_MOST_TOLD = 500


def graph_event(
    action: str, principal: Principal, *, at: float, detail: Mapping[str, Any]
) -> BoardChanged:
    """What is about to be done to the graph (`change`), or was (`changed`)."""
    return BoardChanged(
        kind="graph",
        action=action,
        at=at,
        by=principal.id,
        tenant=principal.tenant,
        detail=detail,
    )


def change_dict(change: GraphChange) -> dict[str, Any]:
    """What the audit trail has of a change: of each list the beginning, and the digest of all."""
    whole = {name: items for name, items in asdict(change).items() if items}
    return {
        "digest": digest_of(whole),
        **{name: list(items[:_MOST_TOLD]) for name, items in whole.items()},
    }


def graph_dict(graph: DependencyGraph, names: Mapping[str, str]) -> dict[str, Any]:
    """A graph as JSON-compatible data.

    Args:
        graph: What to show.
        names: Wire names by id; a node without one is no tool of the board now.
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
