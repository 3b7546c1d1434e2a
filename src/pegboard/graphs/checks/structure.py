"""What is wrong with a graph by itself, whatever tools there are."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import reduce
from typing import get_args

from pegboard.core.graph import Edge, Graph, Join, Node, OnFailure
from pegboard.graphs.checks.faults import Fault
from pegboard.graphs.checks.topology import cycle_of, layers_of
from pegboard.graphs.node_kind import NodeKind

_ID = re.compile(r"[A-Za-z0-9_-]{1,200}")
MAX_NODES = 10_000
MAX_EDGES = 50_000
_OUTCOMES = ("completed", "failed", "any")
_MAX_ROUNDS = 10_000
_BY_KIND = ("tool", "graph", "wait", "config", "fallbacks", "retry")


def structure_faults(
    graph: Graph, kinds: Mapping[str, NodeKind], *, at: str = ""
) -> Iterator[Fault]:
    """Ids, kinds, edges, cycles, numbers, and nodes that can never run.

    Args:
        graph: What to look at; graphs within it are not.
        kinds: The node kinds that there are.
        at: What its places begin with.
    """
    if len(graph.nodes) > MAX_NODES or sum(len(node.edges) for node in graph) > MAX_EDGES:
        message = f"A graph has at most {MAX_NODES} nodes and {MAX_EDGES} edges."
        yield Fault(code="graph_too_large", place=f"{at}nodes", message=message)
        return
    if not graph.nodes:
        yield Fault(
            code="graph_empty", place=f"{at}nodes", message="A graph has at least one node."
        )
    if graph.concurrency < 1:
        yield _number(f"{at}concurrency", "concurrency", "at least 1")
    if graph.timeout is not None and graph.timeout <= 0:
        yield _number(f"{at}timeout", "timeout", "more than 0 seconds")
    counts = Counter(node.id for node in graph)
    branching = {edge.node for node in graph for edge in node.edges if edge.outcome == "failed"}
    for place, node in enumerate(graph):
        where = f"{at}nodes[{place}]"
        yield from _id_faults(node, where, counts)
        yield from _kind_faults(node, where, kinds)
        yield from _edge_faults(node, where, counts)
        yield from _number_faults(node, where)
        yield from _failure_faults(node, where, branching)
    if cycle := cycle_of(graph):
        first = next(place for place, node in enumerate(graph) if node.id == cycle[0])
        way = " -> ".join(cycle)
        message = f"These nodes wait for each other: {way}. Take one edge away."
        yield Fault(code="cycle", place=f"{at}nodes[{first}].edges", message=message)
    else:
        yield from _never_run(graph, at)


def _id_faults(node: Node, where: str, counts: Mapping[str, int]) -> Iterator[Fault]:
    if not _ID.fullmatch(node.id):
        message = f"'{node.id[:60]}' is no id: at most 200 letters, digits, '_' and '-'."
        yield Fault(code="id_illegal", place=f"{where}.id", message=message)
    if counts[node.id] > 1:
        message = f"{counts[node.id]} nodes have the id '{node.id}'."
        yield Fault(code="id_twice", place=f"{where}.id", message=message)


def _kind_faults(node: Node, where: str, kinds: Mapping[str, NodeKind]) -> Iterator[Fault]:
    kind = kinds.get(node.kind)
    if kind is None:
        known = ", ".join(sorted(kinds))
        message = f"There is no node kind '{node.kind}'; there are {known}."
        yield Fault(code="kind_unknown", place=f"{where}.kind", message=message)
        return
    for field in _BY_KIND:
        if getattr(node, field) and field not in kind.fields:
            message = f"A node of kind '{node.kind}' does not use '{field}'."
            yield Fault(code="field_unused", place=f"{where}.{field}", message=message)
    for field, code, message in kind.faults(node):
        yield Fault(code=code, place=f"{where}.{field}", message=message)


def _edge_faults(node: Node, where: str, counts: Mapping[str, int]) -> Iterator[Fault]:
    if node.join not in get_args(Join):
        message = f"join is 'all' or 'any', not '{node.join}'."
        yield Fault(code="join_unknown", place=f"{where}.join", message=message)
    for place, edge in enumerate(node.edges):
        at = f"{where}.edges[{place}]"
        if edge.node not in counts:
            message = f"There is no node '{edge.node}'."
            yield Fault(code="edge_to_nothing", place=f"{at}.node", message=message)
        if edge.outcome not in _OUTCOMES:
            message = f"outcome is one of {', '.join(_OUTCOMES)}, not '{edge.outcome}'."
            yield Fault(code="outcome_unknown", place=f"{at}.outcome", message=message)


def _number_faults(node: Node, where: str) -> Iterator[Fault]:
    each, repeat, retry = node.for_each, node.repeat, node.retry
    if node.timeout is not None and node.timeout <= 0:
        yield _number(f"{where}.timeout", "timeout", "more than 0 seconds")
    if each is not None and each.concurrency < 1:
        yield _number(f"{where}.for_each.concurrency", "concurrency", "at least 1")
    if retry is not None and retry.max_retries < 0:
        yield _number(f"{where}.retry.max_retries", "max_retries", "at least 0")
    if repeat is not None:
        if not repeat.until:
            message = "Say in 'until' when the rounds are over."
            yield Fault(code="repeat_unbounded", place=f"{where}.repeat.until", message=message)
        if not 1 <= repeat.most <= _MAX_ROUNDS:
            message = f"'most' is the number of rounds after which it fails: 1 to {_MAX_ROUNDS}."
            yield Fault(code="repeat_unbounded", place=f"{where}.repeat.most", message=message)


def _failure_faults(node: Node, where: str, branching: Collection[str]) -> Iterator[Fault]:
    place = f"{where}.on_failure"
    if node.on_failure not in get_args(OnFailure):
        message = f"on_failure is 'fail', 'continue' or 'skip', not '{node.on_failure}'."
        yield Fault(code="on_failure_unknown", place=place, message=message)
    each = node.for_each
    if each is not None and each.on_failure not in {"fail", "continue"}:
        message = f"on_failure of items is 'fail' or 'continue', not '{each.on_failure}'."
        yield Fault(
            code="on_failure_unknown", place=f"{where}.for_each.on_failure", message=message
        )
    if node.id in branching and node.on_failure == "continue":
        message = (
            "When it fails, its error branch runs and what follows it as well: "
            "on_failure 'skip' leaves the error branch alone."
        )
        yield Fault(code="on_failure_twice", place=place, message=message, is_note=True)


def _never_run(graph: Graph, at: str) -> Iterator[Fault]:
    """Nodes that would need another to have both completed and failed."""
    if not any(edge.outcome == "failed" for node in graph for edge in node.edges):
        return
    order = {node.id: place for place, node in enumerate(graph)}
    needs: dict[str, int] = {}
    impossible = _impossible(graph)
    for layer in layers_of(graph):
        for name in layer:
            node = graph.nodes[order[name]]
            ways = [
                _outcomes_before(edge, needs, order) for edge in node.edges if edge.node in order
            ]
            possible = [way for way in ways if not _contradicts(way, impossible)]
            needs[name] = 0
            if node.join == "all":
                needs[name] = reduce(int.__or__, ways, 0)
            elif possible:
                needs[name] = reduce(int.__and__, possible)
            is_open = node.join == "all" or not ways or bool(possible)
            if not is_open or _contradicts(needs[name], impossible):
                message = "It can never run: it needs another node to have completed and failed."
                place = f"{at}nodes[{order[name]}].edges"
                yield Fault(code="unreachable", place=place, message=message)
                needs[name] = 0


def _outcomes_before(edge: Edge, needs: Mapping[str, int], order: Mapping[str, int]) -> int:
    """What must have happened for an edge to hold: two bits for each node, completed and failed."""
    bit = {"completed": 1, "failed": 2}.get(edge.outcome, 0)
    return needs[edge.node] | bit << 2 * order[edge.node]


def _impossible(graph: Graph) -> int:
    """The bit of each node for which a failure is no completion as well."""
    return sum(1 << 2 * place for place, node in enumerate(graph) if node.on_failure != "continue")


def _contradicts(needed: int, impossible: int) -> bool:
    return bool(needed & needed >> 1 & impossible)


def _number(place: str, name: str, wanted: str) -> Fault:
    return Fault(code="number_out_of_range", place=place, message=f"{name} is {wanted}.")
