"""The dependency graph with its versions."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from threading import Lock

from pegboard.errors import DependencyCycle, VersionNotFound
from pegboard.registry.dependencies.changes import (
    Delta,
    Edge,
    GraphChange,
    GraphDiff,
    Origins,
    combine_deltas,
    to_diff,
)
from pegboard.registry.dependencies.graph import DependencyGraph
from pegboard.registry.dependencies.topological_order import TopologicalOrder

_READ_BACK = 8
"""Number of computed old versions that are cached."""


class VersionedDependencies:
    """The dependency graph with all its versions.

    The newest version and the delta of each change are kept; an old version is computed by undoing
    the deltas since, and shares with the newest everything they did not touch. May be changed by
    one thread while others read, because a `DependencyGraph` is immutable.

    ```python
    needs = VersionedDependencies()
    needs.apply(GraphChange(add_nodes=("a_v1", "b_v1"), add_edges=(("a_v1", "b_v1"),)))
    needs.current.prerequisites("b_v1")  # ("a_v1",)
    ```

    Args:
        keep: How many versions can be read back.
        keep_entries: How many touched nodes and edges are kept for them, in all versions together.
    """

    def __init__(self, *, keep: int = 10_000, keep_entries: int = 500_000) -> None:
        self._keep, self._keep_entries = keep, keep_entries
        self._ranks = TopologicalOrder()
        self._deltas: OrderedDict[int, Delta] = OrderedDict()  # by the version that each made
        self._entries = 0
        self._made: OrderedDict[int, DependencyGraph] = OrderedDict()
        self._lock = Lock()
        self.current = DependencyGraph()

    @property
    def version(self) -> int:
        """The number of the newest version; 0 before the first change."""
        return self.current.version

    @property
    def oldest(self) -> int:
        """The oldest version that can still be read back."""
        return self.version - len(self._deltas)

    def apply(self, change: GraphChange, *, origin: str = "api") -> DependencyGraph:
        """Apply a change as a whole; the resulting graph, a new version if anything changed.

        Args:
            change: What to change.
            origin: The origin of the added edges: `spec`, `board`, `api`, ...

        Raises:
            DependencyCycle: It would close a cycle; names it in order.
            DependencyNotFound: No such node or edge; suggests similar names.
        """
        with self._lock:
            old = self.current
            delta = _delta(old, change, origin)
            if not delta.size:
                return old
            new = old.apply(delta, version=old.version + 1)
            added = [edge for edge, (before, after) in delta.edges.items() if after and not before]
            cycle = self._ranks.add((node for node in delta.nodes if node not in old), added, new)
            if delta.nodes:
                self._ranks.keep(old if cycle else new)
            if cycle:
                first = cycle.index(min(cycle))  # the same name for it, wherever it was closed
                raise DependencyCycle((*cycle[first:], *cycle[:first]))
            self._remember(new, delta)
            return new

    def take_back(self, to: DependencyGraph) -> None:
        """Make an earlier version the newest again and drop all later ones."""
        with self._lock:
            for version in range(to.version + 1, self.version + 1):
                gone = self._deltas.pop(version, None)
                self._entries -= gone.size if gone else 0
                self._made.pop(version, None)
            edges = [(node, other) for node in to.nodes for other in to.neighbours(node)]
            self._ranks = TopologicalOrder()  # the order of the dropped versions may not fit
            self._ranks.add(to.nodes, edges, to)
            self.current = to

    def at(self, version: int) -> DependencyGraph:
        """The graph of an earlier version.

        Raises:
            VersionNotFound: It never existed, or is no longer kept.
        """
        with self._lock:
            if version == self.version:
                return self.current
            self._check(version)
            graph = self._made.get(version)
            if graph is None:
                since = self._between(version, self.version)
                graph = self.current.apply(since.undone(), version=version)
                self._made[version] = graph
                while len(self._made) > _READ_BACK:
                    self._made.popitem(last=False)
            return graph

    def find_last_change(self, is_seen: Callable[[str], bool]) -> int:
        """The newest version that changed something of the nodes for which this holds.

        Edges count where it holds for both ends. The oldest version where no kept one did.
        """
        with self._lock:
            for version, delta in reversed(self._deltas.items()):
                if any(map(is_seen, delta.nodes)) or any(
                    all(map(is_seen, edge)) for edge in delta.edges
                ):
                    return version
            return self.oldest

    def diff(self, old: int, new: int) -> GraphDiff:
        """How the version `new` differs from the version `old`, in either direction.

        Raises:
            VersionNotFound: One of them never existed, or is no longer kept.
        """
        with self._lock:
            self._check(old)
            self._check(new)
            if old <= new:
                return to_diff(self._between(old, new))
            return to_diff(self._between(new, old).undone())

    def _between(self, old: int, new: int) -> Delta:
        return combine_deltas(self._deltas[version] for version in range(old + 1, new + 1))

    def _check(self, version: int) -> None:
        if not self.oldest <= version <= self.version:
            kept = f"kept are {self.oldest} to {self.version}"
            raise VersionNotFound(f"The dependency graph has no version {version}; {kept}.")

    def _remember(self, graph: DependencyGraph, delta: Delta) -> None:
        self._deltas[graph.version] = delta
        self._entries += delta.size
        while len(self._deltas) > self._keep or self._entries > self._keep_entries:
            version, forgotten = self._deltas.popitem(last=False)
            self._entries -= forgotten.size
            self._made.pop(version - 1, None)
        self.current = graph


def _delta(graph: DependencyGraph, change: GraphChange, origin: str) -> Delta:
    """The effect of a change on each node and edge that it touches."""
    removed, added = dict.fromkeys(change.remove_nodes), dict.fromkeys(change.add_nodes)
    edges: dict[Edge, Origins] = {}
    for node in removed:
        graph.check_node(node)
        edges.update({(node, other): () for other in graph.neighbours(node)})
        edges.update({(other, node): () for other in graph.needs(node)})
    for edge in change.remove_edges:
        graph.check_edge(edge)
        edges[edge] = ()
    for edge in change.retract_edges:
        graph.check_edge(edge)
        edges[edge] = tuple(o for o in edges.get(edge, graph.origins(edge)) if o != origin)
    for edge in change.add_edges:
        _check_ends(edge, graph, removed=removed, added=added)
        edges[edge] = tuple(sorted({*edges.get(edge, graph.origins(edge)), origin}))
    nodes: dict[str, Origins] = dict.fromkeys(removed, ())
    ends = {node for edge, origins in edges.items() if origins for node in edge}
    for node in change.retract_nodes:
        graph.check_node(node)
        left = tuple(o for o in nodes.get(node, graph.origins_of_node(node)) if o != origin)
        if left or not (node in ends or _keeps_edges(node, graph, edges)):
            nodes[node] = left
    for node in added:
        nodes[node] = tuple(sorted({*nodes.get(node, graph.origins_of_node(node)), origin}))
    return Delta(
        nodes={
            node: (before, after)
            for node, after in nodes.items()
            if (before := graph.origins_of_node(node)) != after
        },
        edges={
            edge: (before, after)
            for edge, after in edges.items()
            if (before := graph.origins(edge)) != after
        },
    )


def _keeps_edges(node: str, graph: DependencyGraph, changed: Mapping[Edge, Origins]) -> bool:
    """Whether a node has edges that a change does not touch."""
    edges = [(node, other) for other in graph.neighbours(node)]
    edges += [(other, node) for other in graph.needs(node)]
    return any(edge not in changed for edge in edges)


def _check_ends(
    edge: Edge, graph: DependencyGraph, *, removed: Mapping[str, None], added: Iterable[str]
) -> None:
    for node in edge:
        if node not in added and (node in removed or node not in graph):
            graph.only(n for n in graph.nodes if n not in removed).check_node(node)
