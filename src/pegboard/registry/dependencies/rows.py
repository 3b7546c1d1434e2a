"""The rows of a dependency graph: a version has those of the one before that do not change."""

from collections.abc import Collection, Iterable, Mapping

from pegboard.registry.dependencies.changes import Delta, Origins

Rows = Mapping[str, Mapping[str, Origins]]
"""For each node its neighbours on one side, and who says so."""

_NONE: Mapping[str, Origins] = {}


def cut(rows: Rows, kept: Iterable[str], inside: Collection[str]) -> Rows:
    """The rows of these nodes, with the neighbours that are among them.

    Args:
        rows: Of all nodes.
        kept: Of which nodes, in this order.
        inside: The same, to look them up in.
    """
    return {
        node: {other: origins for other, origins in rows[node].items() if other in inside}
        for node in kept
    }


def changed_rows(rows: Rows, delta: Delta, edges: Iterable[tuple[str, str, Origins]]) -> Rows:
    """The rows after a change; those that it does not touch are the same objects.

    Args:
        rows: Of one side, before.
        delta: What changes of the nodes.
        edges: What changes of the edges: a node of this side, its neighbour, and who says so now.
    """
    result = dict(rows)
    touched: dict[str, dict[str, Origins]] = {}
    for node, other, origins in edges:
        row = touched.get(node)
        if row is None:  # the old row is shared with other versions
            row = touched[node] = dict(rows.get(node, _NONE))
        if origins:
            row[other] = origins
        else:
            row.pop(other, None)
    for node, (before, _) in delta.nodes.items():
        if not before:
            result[node] = {}
    result.update(touched)
    for node, (_, after) in delta.nodes.items():
        if not after:
            result.pop(node, None)
    return result


def changed_nodes(nodes: Mapping[str, Origins], delta: Delta) -> Mapping[str, Origins]:
    """The nodes after a change; the same object where it touches none."""
    if not delta.nodes:
        return nodes
    result = dict(nodes)
    for node, (_, origins) in delta.nodes.items():
        if origins:
            result[node] = origins
        else:
            result.pop(node, None)
    return result
