"""A dependency graph whose changes can be kept, and played again."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pegboard.core.ports.catalogue_stores import DependencyChange
from pegboard.registry.dependencies import Dependencies, DependencyGraph, GraphChange


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedChange:
    """A change that made a version."""

    version: int
    change: GraphChange
    origin: str

    def to_stored(self, at: float, by: str) -> DependencyChange:
        """As it is stored."""
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


class RecordedGraph(Dependencies):
    """Remembers each change that made a version, until somebody has kept it.

    Attributes:
        made: What nobody has kept yet.
    """

    def __init__(self) -> None:
        super().__init__()
        self.made: list[AppliedChange] = []

    def apply(self, change: GraphChange, *, origin: str = "api") -> DependencyGraph:
        """As `Dependencies.apply`; a node that others speak of too stays theirs and ours.

        Raises:
            DependencyCycle: It would close a cycle; names it in order.
            DependencyNotFound: A node or an edge is not there; names the nearest.
        """
        before = self.current
        # a log of changes cannot say of a node that one of several no longer speaks of it
        mine = (n for n in change.retract_nodes if before.origins_of_node(n) in {(), (origin,)})
        change = replace(change, retract_nodes=tuple(mine))
        after = super().apply(change, origin=origin)
        if after.version != before.version:
            gone = tuple(node for node in change.retract_nodes if node not in after)
            told = replace(change, remove_nodes=change.remove_nodes + gone, retract_nodes=())
            self.made.append(AppliedChange(version=after.version, change=told, origin=origin))
        return after

    def would_change(self, change: GraphChange, *, origin: str) -> bool:
        """Whether it would make a version.

        Raises:
            DependencyCycle: It would close a cycle; names it in order.
            DependencyNotFound: A node or an edge is not there; names the nearest.
        """
        before = self.current
        is_changed = self.apply(change, origin=origin) is not before
        if is_changed:
            self.take_back(before)
        return is_changed

    def take_back(self, to: DependencyGraph) -> None:
        """As `Dependencies.take_back`; what is taken back need not be kept."""
        super().take_back(to)
        self.made = [made for made in self.made if made.version <= to.version]

    @classmethod
    def replay(cls, changes: Iterable[DependencyChange]) -> "RecordedGraph":
        """The graph that these changes make, from the first one on."""
        graph = cls()
        for item in changes:
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
