"""What is done to a dependency graph, and what came of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

Edge = tuple[str, str]
"""A prerequisite and what depends on it."""
Origins = tuple[str, ...]
"""Who says that there is a node or an edge: `spec`, `board`, `api`, ...; sorted, empty for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphChange:
    """What is to be done, all of it or nothing. Removals come before additions.

    Attributes:
        add_nodes: Ids of tools; those that are there already are left alone.
        remove_nodes: Taken out with all their edges, whoever said them.
        add_edges: A prerequisite and its dependant each; both nodes are there or are added too.
        remove_edges: Taken out, whoever said them.
        retract_nodes: No longer said by the origin of this change; others may still say them, and
            a node that has edges stays.
        retract_edges: No longer said by the origin of this change; others may still say them.
    """

    add_nodes: tuple[str, ...] = ()
    remove_nodes: tuple[str, ...] = ()
    add_edges: tuple[Edge, ...] = ()
    remove_edges: tuple[Edge, ...] = ()
    retract_nodes: tuple[str, ...] = ()
    retract_edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """One edge and who says it."""

    prerequisite: str
    dependant: str
    origins: Origins


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDiff:
    """How one version differs from another: everything sorted.

    Attributes:
        changed_origins: Edges of both versions that others say now: old and new origins.
    """

    added_nodes: tuple[str, ...] = ()
    removed_nodes: tuple[str, ...] = ()
    added_edges: tuple[Edge, ...] = ()
    removed_edges: tuple[Edge, ...] = ()
    changed_origins: tuple[tuple[Edge, Origins, Origins], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the two are the same."""
        return self == GraphDiff()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What one change did: for each node and edge that it touched who said it, and who says it."""

    nodes: dict[str, tuple[Origins, Origins]] = field(
        default_factory=dict[str, tuple[Origins, Origins]]
    )
    edges: dict[Edge, tuple[Origins, Origins]] = field(
        default_factory=dict[Edge, tuple[Origins, Origins]]
    )

    @property
    def size(self) -> int:
        """How much there is to keep."""
        return len(self.nodes) + len(self.edges)

    def undone(self) -> "Delta":
        """What takes it back."""
        return Delta(
            nodes={node: (after, before) for node, (before, after) in self.nodes.items()},
            edges={edge: (after, before) for edge, (before, after) in self.edges.items()},
        )


def combined(deltas: Iterable[Delta]) -> Delta:
    """What several did together, one after the other."""
    nodes: dict[str, tuple[Origins, Origins]] = {}
    edges: dict[Edge, tuple[Origins, Origins]] = {}
    for delta in deltas:
        for node, (before, after) in delta.nodes.items():
            nodes[node] = (nodes.get(node, (before,))[0], after)
        for edge, (before, after) in delta.edges.items():
            edges[edge] = (edges.get(edge, (before,))[0], after)
    return Delta(
        nodes={node: both for node, both in nodes.items() if both[0] != both[1]},
        edges={edge: both for edge, both in edges.items() if both[0] != both[1]},
    )


def shown(delta: Delta) -> GraphDiff:
    """A delta as people read it."""
    nodes, edges = sorted(delta.nodes.items()), sorted(delta.edges.items())
    return GraphDiff(
        added_nodes=tuple(node for node, (before, _) in nodes if not before),
        removed_nodes=tuple(node for node, (_, after) in nodes if not after),
        added_edges=tuple(edge for edge, (before, _) in edges if not before),
        removed_edges=tuple(edge for edge, (_, after) in edges if not after),
        changed_origins=tuple(
            (edge, before, after) for edge, (before, after) in edges if before and after
        ),
    )
