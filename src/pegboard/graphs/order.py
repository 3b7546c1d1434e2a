"""What comes before what in a graph."""

from collections.abc import Mapping, Sequence
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
    """Which nodes have surely ended before a node begins."""

    def __init__(self, graph: Graph) -> None:
        """Look at a graph without cycles."""
        self._order = {node.id: place for place, node in enumerate(graph)}
        self._masks: dict[str, int] = {}
        before = _before(graph)
        for layer in layers_of(graph):
            for name in layer:
                mask = 0
                for other in before[name]:
                    mask |= self._masks[other] | 1 << self._order[other]
                self._masks[name] = mask

    def comes_before(self, first: str, second: str) -> bool:
        """Whether the first has ended before the second begins."""
        return bool(self._masks[second] >> self._order[first] & 1)


def _before(graph: Graph) -> Mapping[str, Sequence[str]]:
    known = {node.id for node in graph}
    return {node.id: [name for name in node.depends_on if name in known] for node in graph}
