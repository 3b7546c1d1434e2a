"""Whether tools that say what they need would need each other in a circle."""

from collections.abc import Callable, Collection, Iterable
from graphlib import CycleError, TopologicalSorter
from typing import cast

from pegboard.registry.dependencies.changes import Edge


def cycle_through(
    edges: Iterable[Edge], *, is_ours: Callable[[str], bool] = lambda _: True
) -> tuple[str, ...]:
    """A cycle with one of our nodes in it, each before what needs it; empty when there is none.

    Takes time as there are edges. Cycles of others, which were there before, are left alone.

    Args:
        edges: Prerequisites and dependants.
        is_ours: Whether a node is asked about.
    """
    needs: dict[str, dict[str, None]] = {}
    for needed, node in edges:
        needs.setdefault(node, {})[needed] = None
    while cycle := _cycle(needs):
        if any(map(is_ours, cycle)):
            first = cycle.index(min(cycle))  # the same name for it, wherever it was closed
            return (*cycle[first:], *cycle[:first])
        del needs[cycle[0]][cycle[-1]]
    return ()


def _cycle(needs: dict[str, dict[str, None]]) -> tuple[str, ...]:
    sorter: TopologicalSorter[str] = TopologicalSorter(cast("dict[str, Collection[str]]", needs))
    try:
        sorter.prepare()
    except CycleError as error:
        return tuple(cast("list[str]", error.args[1])[:-1])
    return ()
