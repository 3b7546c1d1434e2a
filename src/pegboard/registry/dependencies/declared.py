"""Dependencies that tools declare in their specs, applied to the graph."""

from collections.abc import Callable, Collection, Iterable
from graphlib import CycleError, TopologicalSorter
from typing import cast

from pegboard.core.tool import ToolSpec
from pegboard.core.wire_names import split_wire_name
from pegboard.errors import DependencyCycle
from pegboard.registry.dependencies.changes import Edge, GraphChange
from pegboard.registry.dependencies.versioned import VersionedDependencies

ORIGIN = "spec"
"""The origin of edges from `ToolSpec.dependencies`."""


def _never(_node: str) -> bool:
    return False


def declare(
    graph: VersionedDependencies,
    specs: Iterable[ToolSpec],
    *,
    is_away: Callable[[str], bool] = _never,
) -> tuple[DependencyCycle, ...]:
    """Make the graph agree with what these tools, which are all there are, declare.

    A prerequisite is named by id or by name; a tool of the same source comes first, and may be
    named without the source. A missing prerequisite stays a node, so that it can be seen that it is
    missing; so does a removed tool that is still needed. Nodes and edges of other origins are not
    touched.

    Args:
        graph: The graph to change.
        specs: All current tools.
        is_away: Whether the tool of a node is only temporarily missing; its declarations are kept.

    Returns:
        The cycles that there would be. One edge of each is left out, and the rest is applied.
    """
    current = graph.current

    def absent_id(source: str, needed: str) -> str:
        sibling = resolve_id(f"{source}__{needed}", current.nodes)
        if source and sibling in current:
            return sibling
        return resolve_id(needed, current.nodes) if is_away(needed) else needed

    wanted, nodes = _declared_edges(list(specs), absent_id)
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
    """Refuse tools that would need each other in a cycle, or need themselves.

    Args:
        specs: All tools that there would be.
        ours: The tools to check; cycles of others are ignored.
        edges: Edges of other origins.

    Raises:
        DependencyCycle: One of ours is in a cycle; names it.
    """
    ids = {spec.id for spec in ours if spec.dependencies}
    if not ids:
        return
    said, _ = _declared_edges(list(specs), lambda _, needed: needed)
    if cycle := cycle_through((*said, *edges), is_ours=ids.__contains__):
        raise DependencyCycle(cycle)


def cycle_through(
    edges: Iterable[Edge], *, is_ours: Callable[[str], bool] = lambda _: True
) -> tuple[str, ...]:
    """A cycle through one of our nodes, each before its dependant; empty when there is none.

    Takes time proportional to the number of edges. Cycles without one of our nodes are ignored.

    Args:
        edges: Pairs of a prerequisite and its dependant.
        is_ours: Whether a node is to be checked.
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


def resolve_id(name: str, nodes: Iterable[str]) -> str:
    """The id among these of the tool with this wire name; the name itself without one."""
    for node in nodes:
        stem, _, major = node.rpartition("_v")
        if stem == name and major.isdecimal():
            return node
    return name


def _declared_edges(
    specs: list[ToolSpec], absent_id: Callable[[str, str], str]
) -> tuple[dict[Edge, None], dict[str, None]]:
    """The edges and the nodes that these tools declare."""
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
    """The ids of tools of sources, by the names and ids that their authors use."""
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
