"""Changes of a dependency graph, and the differences between its versions."""

from collections.abc import Iterable
from dataclasses import dataclass, field

Edge = tuple[str, str]
"""A prerequisite and what depends on it."""
Origins = tuple[str, ...]
"""The origins that declare a node or an edge: `spec`, `board`, `api`, ...; sorted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphChange:
    """A change that is applied as a whole or not at all. Removals come before additions.

    Attributes:
        add_nodes: Ids of tools; existing ones stay as they are.
        remove_nodes: Removed with all their edges, whatever their origins.
        add_edges: Pairs of a prerequisite and its dependant; both exist or are added too.
        remove_edges: Removed, whatever their origins.
        retract_nodes: No longer declared by the origin of this change. A node with another origin
            or with edges stays.
        retract_edges: No longer declared by the origin of this change; other origins keep them.
    """

    add_nodes: tuple[str, ...] = ()
    remove_nodes: tuple[str, ...] = ()
    add_edges: tuple[Edge, ...] = ()
    remove_edges: tuple[Edge, ...] = ()
    retract_nodes: tuple[str, ...] = ()
    retract_edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """One edge and its origins."""

    prerequisite: str
    dependant: str
    origins: Origins


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDiff:
    """How one version differs from another; everything is sorted.

    Attributes:
        changed_origins: Edges of both versions whose origins differ: old and new origins.
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
    """The effect of one change: old and new origins of each node and edge that it touched."""

    nodes: dict[str, tuple[Origins, Origins]] = field(
        default_factory=dict[str, tuple[Origins, Origins]]
    )
    edges: dict[Edge, tuple[Origins, Origins]] = field(
        default_factory=dict[Edge, tuple[Origins, Origins]]
    )

    @property
    def size(self) -> int:
        """Number of touched nodes and edges."""
        return len(self.nodes) + len(self.edges)

    def undone(self) -> "Delta":
        """The opposite delta."""
        return Delta(
            nodes={node: (after, before) for node, (before, after) in self.nodes.items()},
            edges={edge: (after, before) for edge, (before, after) in self.edges.items()},
        )


def combine_deltas(deltas: Iterable[Delta]) -> Delta:
    """The joint effect of several deltas in a row."""
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


def to_diff(delta: Delta) -> GraphDiff:
    """The delta as a readable diff."""
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
