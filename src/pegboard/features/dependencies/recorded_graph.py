"""A dependency graph whose changes can be stored and replayed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pegboard.core.ports.catalogue_stores import DependencyChange, DependencySnapshot
from pegboard.registry.dependencies import DependencyGraph, GraphChange, VersionedDependencies
from pegboard.registry.dependencies.changes import Delta

KEEP_ENTRIES = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedChange:
    """A change that made a version."""

    version: int
    change: GraphChange
    origin: str

    def to_stored(self, at: float, by: str) -> DependencyChange:
        """Return the change as it is stored."""
        change = self.change
        return DependencyChange(
            version=self.version,
            at=at,
            by=by,
            origin=self.origin,
            add_nodes=change.add_nodes,
            remove_nodes=change.remove_nodes,
            add_edges=change.add_edges,
            remove_edges=change.remove_edges,
            retract_edges=change.retract_edges,
        )


class RecordedGraph(VersionedDependencies):
    """Remembers each change that made a version, until it is stored.

    Args:
        keep_entries: How many touched nodes and edges can be read back.

    Attributes:
        made: Changes that are not stored yet.
    """

    def __init__(self, *, keep_entries: int = KEEP_ENTRIES) -> None:
        super().__init__(keep_entries=keep_entries)
        self.made: list[AppliedChange] = []

    def apply(self, change: GraphChange, *, origin: str = "api") -> DependencyGraph:
        """As `Dependencies.apply`, but nodes with other origins are not retracted.

        Raises:
            DependencyCycle: The change would close a cycle; names it in order.
            DependencyNotFound: A node or an edge does not exist; names the nearest.
        """
        before = self.current
        # the log cannot express that one of several origins of a node is gone
        mine = (n for n in change.retract_nodes if before.origins_of_node(n) in {(), (origin,)})
        change = replace(change, retract_nodes=tuple(mine))
        after = super().apply(change, origin=origin)
        if after.version != before.version:
            gone = tuple(node for node in change.retract_nodes if node not in after)
            stored = replace(change, remove_nodes=change.remove_nodes + gone, retract_nodes=())
            self.made.append(AppliedChange(version=after.version, change=stored, origin=origin))
        return after

    def would_change(self, change: GraphChange, *, origin: str) -> bool:
        """Whether a change would make a version.

        Raises:
            DependencyCycle: The change would close a cycle; names it in order.
            DependencyNotFound: A node or an edge does not exist; names the nearest.
        """
        before = self.current
        is_changed = self.apply(change, origin=origin) is not before
        if is_changed:
            self.take_back(before)
        return is_changed

    def take_back(self, to: DependencyGraph) -> None:
        """As `Dependencies.take_back`; changes taken back are not stored."""
        super().take_back(to)
        self.made = [made for made in self.made if made.version <= to.version]

    @classmethod
    def replay(
        cls, changes: Iterable[DependencyChange], *, keep_entries: int = KEEP_ENTRIES
    ) -> "RecordedGraph":
        """Return the graph that results from these changes, from the first on."""
        graph = cls(keep_entries=keep_entries)
        for item in changes:
            if item.snapshot is not None:
                graph.take_back(_restore(item.snapshot, version=item.version))
                continue
            change = GraphChange(
                add_nodes=item.add_nodes,
                remove_nodes=item.remove_nodes,
                add_edges=item.add_edges,
                remove_edges=item.remove_edges,
                retract_edges=item.retract_edges,
            )
            graph.apply(change, origin=item.origin)
        graph.made.clear()
        return graph


def take_snapshot(graph: DependencyGraph, *, at: float) -> DependencyChange:
    """Return a whole graph as it is stored in place of the changes that led to it."""
    return DependencyChange(
        version=graph.version,
        at=at,
        snapshot=DependencySnapshot(
            nodes={node: graph.origins_of_node(node) for node in graph.nodes},
            edges=tuple((edge.prerequisite, edge.dependant, edge.origins) for edge in graph.edges),
        ),
    )


def _restore(snapshot: DependencySnapshot, *, version: int) -> DependencyGraph:
    delta = Delta(
        nodes={node: ((), origins) for node, origins in snapshot.nodes.items()},
        edges={(a, b): ((), origins) for a, b, origins in snapshot.edges},
    )
    return DependencyGraph().apply(delta, version=version)
