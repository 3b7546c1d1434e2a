"""A topological order that is updated edge by edge, to find cycles without a full search.

D. J. Pearce, P. H. J. Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs",
ACM Journal of Experimental Algorithmics 11 (2006): each node has a rank. An edge to a higher rank
changes nothing; one to a lower rank reorders only the nodes between the two ranks. Another full
sort by `graphlib` would take 30 ms for each edge at 10,000 tools, instead of 0.6 ms.
"""

from collections.abc import Callable, Iterable, Iterator

from pegboard.registry.dependencies.changes import Edge
from pegboard.registry.dependencies.graph import DependencyGraph

_BULK = 8
"""When more than one in this many nodes gets an edge, the whole order is rebuilt."""


class TopologicalOrder:
    """A rank for each node, lower than those of all its dependants.

    An order stays valid when edges are removed, so nothing has to be undone when edges are removed
    or a change is refused halfway.
    """

    def __init__(self) -> None:
        self._ranks: dict[str, int] = {}
        self._next = 0

    def keep(self, graph: DependencyGraph) -> None:
        """Drop nodes that are not in the graph."""
        self._ranks = {node: rank for node, rank in self._ranks.items() if node in graph}

    def add(
        self, nodes: Iterable[str], edges: list[Edge], graph: DependencyGraph
    ) -> tuple[str, ...]:
        """Extend the order by more edges.

        Args:
            nodes: The new nodes.
            edges: Pairs of a prerequisite and its dependant.
            graph: The graph with the old and the new edges.

        Returns:
            A cycle, each needed by the next and the last by the first; empty when there is none.
        """
        for node in nodes:
            self._ranks[node] = self._next
            self._next += 1
        if len(edges) * _BULK > len(graph):
            return self._rebuild(graph)
        cycles = (self._add_one(before, after, graph) for before, after in edges)
        return next(filter(None, cycles), ())

    def _add_one(self, before: str, after: str, graph: DependencyGraph) -> tuple[str, ...]:
        if before == after:
            return (before,)
        ranks = self._ranks
        low, high = ranks[after], ranks[before]
        if high < low:
            return ()

        def between(nodes: Iterable[str]) -> Iterator[str]:
            return (node for node in nodes if low <= ranks[node] <= high)

        ahead = _reach(after, lambda node: between(graph.neighbours(node)))
        if before in ahead:
            return (before, *_path_to(ahead, before)[:-1])
        behind = _reach(before, lambda node: between(graph.needs(node)))
        moved = [*sorted(behind, key=ranks.__getitem__), *sorted(ahead, key=ranks.__getitem__)]
        places = sorted(ranks[node] for node in moved)
        ranks.update(zip(moved, places, strict=True))
        return ()

    def _rebuild(self, graph: DependencyGraph) -> tuple[str, ...]:
        order = graph.order()
        if len(order) < len(graph):
            return _cycle(graph, set(graph.nodes) - set(order))
        self._ranks = {node: rank for rank, node in enumerate(order)}
        self._next = len(order)
        return ()


def _reach(start: str, step: Callable[[str], Iterable[str]]) -> dict[str, str]:
    """The nodes that can be reached, the nearest first, each with its predecessor."""
    found = {start: ""}
    frontier = [start]
    while frontier:
        following: list[str] = []
        for node in frontier:
            for other in step(node):
                if other not in found:
                    found[other] = node
                    following.append(other)
        frontier = following
    return found


def _path_to(reached: dict[str, str], end: str) -> list[str]:
    way = [end]
    while reached[way[-1]]:
        way.append(reached[way[-1]])
    return way[::-1]


def _cycle(graph: DependencyGraph, stuck: set[str]) -> tuple[str, ...]:
    """A cycle among nodes without a place in the order: each of them needs another of them."""
    seen: dict[str, None] = {}
    node = min(stuck)
    while node not in seen:
        seen[node] = None
        node = min(other for other in graph.needs(node) if other in stuck)
    walked = list(seen)
    return tuple(reversed(walked[walked.index(node) :]))
