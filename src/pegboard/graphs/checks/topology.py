"""What comes before what in a graph."""

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from pegboard.core.graph import Graph


def cycle_of(graph: Graph) -> tuple[str, ...]:
    """One cycle, its first node named again at its end; empty when there is none."""
    sorter = TopologicalSorter(_before(graph))
    try:
        sorter.prepare()
    except CycleError as error:
        cycle: Sequence[str] = error.args[1]
        return tuple(cycle)
    return ()


def layers_of(graph: Graph) -> tuple[tuple[str, ...], ...]:
    """The nodes in layers, each of which can run at once; in a layer in the graph's order.

    Raises:
        graphlib.CycleError: It has a cycle.
    """
    sorter = TopologicalSorter(_before(graph))
    sorter.prepare()
    order = {node.id: place for place, node in enumerate(graph)}
    layers: list[tuple[str, ...]] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=order.__getitem__)
        layers.append(tuple(ready))
        sorter.done(*ready)
    return tuple(layers)


class Ancestors:
    """Which nodes have surely ended before a node begins.

    Nodes in a cycle count as before each other, and those that share an id as one node, so that
    what is said of all others holds once that is mended.
    """

    def __init__(self, graph: Graph) -> None:
        self._order = {node.id: place for place, node in enumerate(graph)}
        self._masks: dict[str, int] = {}
        before = _all_before(graph)
        for group in _Groups(before).found:
            mask = 0
            for name in group:
                for other in before[name]:
                    mask |= self._masks.get(other, 0) | 1 << self._order[other]
            self._masks |= dict.fromkeys(group, mask)

    def comes_before(self, first: str, second: str) -> bool:
        """Whether the first has ended before the second begins."""
        return bool(self._masks[second] >> self._order[first] & 1)


class _Groups:
    """Nodes that wait for each other as groups, each after all that it waits for.

    What is in no cycle is a group alone. This is Tarjan's algorithm without recursion.
    """

    def __init__(self, before: Mapping[str, Sequence[str]]) -> None:
        self.found: list[list[str]] = []
        self._before = before
        self._numbers: dict[str, int] = {}
        self._lowest: dict[str, int] = {}
        self._open: dict[str, None] = {}
        for name in before:
            if name not in self._numbers:
                self._walk(name)

    def _walk(self, first: str) -> None:
        way = [self._enter(first)]
        while way:
            name, rest = way[-1]
            for other in rest:
                if other not in self._numbers:
                    way.append(self._enter(other))
                    break
                if other in self._open:
                    self._lowest[name] = min(self._lowest[name], self._numbers[other])
            else:
                way.pop()
                self._leave(name)
                if way:
                    parent = way[-1][0]
                    self._lowest[parent] = min(self._lowest[parent], self._lowest[name])

    def _enter(self, name: str) -> tuple[str, Iterator[str]]:
        self._numbers[name] = self._lowest[name] = len(self._numbers)
        self._open[name] = None
        return name, iter(self._before[name])

    def _leave(self, name: str) -> None:
        if self._lowest[name] < self._numbers[name]:
            return
        group: list[str] = []
        while name in self._open:
            group.append(self._open.popitem()[0])
        self.found.append(group)


def _before(graph: Graph) -> Mapping[str, Sequence[str]]:
    known = {node.id for node in graph}
    return {node.id: [name for name in node.depends_on if name in known] for node in graph}


def _all_before(graph: Graph) -> Mapping[str, Sequence[str]]:
    """The same, of all nodes that share an id."""
    known: dict[str, list[str]] = {node.id: [] for node in graph}
    for node in graph:
        known[node.id] += [name for name in node.depends_on if name in known]
    return known
