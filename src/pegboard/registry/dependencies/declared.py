"""What tools say themselves of what they need, as a change of the graph."""

from collections.abc import Callable, Collection, Iterable
from graphlib import CycleError, TopologicalSorter
from typing import cast

from pegboard.core.tool import ToolSpec
from pegboard.core.wire_names import split_wire_name
from pegboard.errors import DependencyCycle
from pegboard.registry.dependencies.changes import Edge, GraphChange
from pegboard.registry.dependencies.versioned import Dependencies

ORIGIN = "spec"
"""Who says the edges that come from `ToolSpec.dependencies`."""


def _never(_node: str) -> bool:
    return False


def declare(
    graph: Dependencies,
    specs: Iterable[ToolSpec],
    *,
    is_away: Callable[[str], bool] = _never,
) -> tuple[DependencyCycle, ...]:
    """Make the graph say what these tools, which are all there are, say of themselves.

    What a tool needs is named by id or by name; a tool of its own source is looked for first, and
    may be named as its author does, without the source. What is needed stays a node when there is
    no such tool, so that it can be seen that it is missing; so does a tool that is gone and is
    still needed. Nodes and edges of other origins are left alone.

    Args:
        graph: What is changed.
        specs: Of the tools that are there.
        is_away: Whether the tool of a node will be back; what it said of itself stays as it was.

    Returns:
        The cycles that there would be. Of each, one edge is left out, and the rest holds.
    """
    current = graph.current

    def absent_id(source: str, needed: str) -> str:
        sibling = known_id(f"{source}__{needed}", current.nodes)
        if source and sibling in current:
            return sibling
        return known_id(needed, current.nodes) if is_away(needed) else needed

    wanted, nodes = _said(list(specs), absent_id)
    known = {(edge.prerequisite, edge.dependant): edge.origins for edge in current.edges}
    gone = [
        edge
        for edge, origins in known.items()
        if ORIGIN in origins and edge not in wanted and not is_away(edge[1])
    ]
    edges = [edge for edge in wanted if ORIGIN not in known.get(edge, ())]
    absent = [
        node
        for node in current.nodes
        if node not in nodes and ORIGIN in current.origins_of_node(node) and not is_away(node)
    ]
    problems: list[DependencyCycle] = []
    while True:
        change = GraphChange(
            add_nodes=tuple(nodes),
            add_edges=tuple(edges),
            retract_nodes=tuple(absent),
            retract_edges=tuple(gone),
        )
        try:
            graph.apply(change, origin=ORIGIN)
        except DependencyCycle as error:
            problems.append(error)
            edges.remove(next(edge for edge in reversed(edges) if edge in error.edges))
        else:
            return tuple(problems)


def check_declared(
    specs: Iterable[ToolSpec], *, ours: Iterable[ToolSpec], edges: Iterable[Edge] = ()
) -> None:
    """Refuse tools that would need each other, or that need themselves.

    Args:
        specs: Of all tools that there would be.
        ours: Those of them that are asked about; circles of others are left alone.
        edges: What others say of what needs what.

    Raises:
        DependencyCycle: Ours close one; names it.
    """
    ids = {spec.id for spec in ours if spec.dependencies}
    if not ids:
        return
    said, _ = _said(list(specs), lambda _, needed: needed)
    if cycle := cycle_through((*said, *edges), is_ours=ids.__contains__):
        raise DependencyCycle(cycle)


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


def known_id(name: str, nodes: Iterable[str]) -> str:
    """The id among these that a tool of this wire name would have; the name itself without one."""
    for node in nodes:
        stem, _, major = node.rpartition("_v")
        if stem == name and major.isdecimal():
            return node
    return name


def _said(
    specs: list[ToolSpec], absent_id: Callable[[str, str], str]
) -> tuple[dict[Edge, None], dict[str, None]]:
    """The edges and the nodes that these tools speak of."""
    nodes = dict.fromkeys(spec.id for spec in specs)
    edges: dict[Edge, None] = {}
    needing = [spec for spec in specs if spec.dependencies]
    if not needing:  # of thousands that are registered in one go, most need nothing
        return edges, nodes
    ids = set(nodes)
    by_name = {spec.name: spec.id for spec in specs}
    siblings = _siblings(specs)
    for spec in needing:
        source = split_wire_name(spec.name)[0]
        for needed in spec.dependencies:
            node = siblings.get((source, needed)) or (needed if needed in ids else "")
            node = node or by_name.get(needed) or absent_id(source, needed)
            nodes[node] = None
            edges[node, spec.id] = None
    return edges, nodes


def _siblings(specs: list[ToolSpec]) -> dict[tuple[str, str], str]:
    """The ids of the tools of sources, by what their authors call them: by name and by id."""
    found: dict[tuple[str, str], str] = {}
    for spec in specs:
        source, action = split_wire_name(spec.name)
        if source:
            found[source, action] = found[source, split_wire_name(spec.id)[1]] = spec.id
    return found


def _cycle(needs: dict[str, dict[str, None]]) -> tuple[str, ...]:
    sorter: TopologicalSorter[str] = TopologicalSorter(cast("dict[str, Collection[str]]", needs))
    try:
        sorter.prepare()
    except CycleError as error:
        return tuple(cast("list[str]", error.args[1])[:-1])
    return ()
