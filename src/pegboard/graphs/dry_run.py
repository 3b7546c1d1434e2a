"""A dry run: in which order a graph would run, what it would do, and about how long it takes."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from pegboard.concurrency.cooperative import Slices, run_at_once
from pegboard.core.graph import Graph, Node
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Effect
from pegboard.graphs.checks.check import check_in_slices
from pegboard.graphs.checks.context import CheckContext, HealthOf, StandInOf
from pegboard.graphs.checks.faults import Fault
from pegboard.graphs.checks.topology import layers_of
from pegboard.graphs.failover import SubstituteFinder, for_caller
from pegboard.graphs.kinds import KINDS, NodeKind
from pegboard.graphs.tool_host import ToolHost, find_tool

DurationOf = Callable[[str], float | None]
_MAX_FAULTS = 1_000
_UNORDERED = frozenset({"cycle", "id_twice", "graph_too_large"})
_NODE = re.compile(r"nodes\[(\d+)\]\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What would happen.

    Attributes:
        faults: What `check` found. With a cycle among them there are no layers.
        layers: Ids of nodes; those of one layer run at the same time, if places allow.
        effects: By node, of those that may change something: the strongest effect of its tools.
        approvals: Nodes before which a person would be asked.
        seconds: About how long it takes: known durations on the longest way; None where one is not.
        longest: The same with the timeouts of tools, where all have one.
    """

    faults: tuple[Fault, ...]
    layers: tuple[tuple[str, ...], ...]
    effects: Mapping[str, str]
    approvals: tuple[str, ...]
    seconds: float | None
    longest: float | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON-compatible data; of very many faults the first thousand, notes last."""
        return {
            "faults": [fault.to_dict() for fault in _foremost(self.faults)],
            "layers": [list(layer) for layer in self.layers],
            "effects": dict(self.effects),
            "approvals": list(self.approvals),
            "seconds": self.seconds,
            "longest": self.longest,
        }


def _foremost(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    if len(faults) <= _MAX_FAULTS:
        return faults
    return tuple(sorted(faults, key=lambda fault: fault.is_note)[:_MAX_FAULTS])


def preview(  # noqa: PLR0913 - all that is known of tools, and none of it is needed
    graph: Graph,
    *,
    board: ToolHost,
    principal: Principal = LOCAL,
    kinds: Mapping[str, NodeKind] = KINDS,
    duration: DurationOf | None = None,
    env: Collection[str] | None = None,
    health: HealthOf | None = None,
    stand_in: StandInOf | None = None,
    heal: SubstituteFinder | None = None,
) -> Preview:
    """Say what a run of this graph would be like; nothing runs.

    Args:
        graph: Which one.
        board: Whose tools.
        principal: For whom.
        kinds: The node kinds that there are.
        duration: How many seconds a tool usually takes, by name; None when it is not known.
        env: What `$.env` reads; None when that is not known.
        health: The health of a tool, by name; None when unknown.
        stand_in: The tool that could replace a tool, by name; None when unknown.
        heal: Finds a substitute for unavailable tools; None for none.
    """
    terms = CheckContext(
        board=board,
        principal=principal,
        kinds=kinds,
        env=env,
        health=health,
        stand_in=stand_in,
        heal=for_caller(heal, principal),
    )
    return run_at_once(preview_in_slices(graph, terms, duration))


def preview_in_slices(
    graph: Graph, terms: CheckContext, duration: DurationOf | None = None
) -> Slices[Preview]:
    """The same, in parts."""
    board = terms.tools
    faults = tuple((yield from check_in_slices(graph, terms)))
    is_ordered = all(fault.code not in _UNORDERED for fault in faults)
    layers = (yield partial(layers_of, graph)) if is_ordered else ()
    asked = {_node_at(fault.place) for fault in faults if fault.code == "approval_needed"}
    effects: dict[str, str] = {}
    seconds: dict[str, float | None] = {}
    limits: dict[str, float | None] = {}
    takes = None if duration is None else cache(duration)
    for node in graph:  # all that asks the board, which changes while another thread looks
        if (effect := _effect(board, node)) != Effect.READ:
            effects[node.id] = effect
        seconds[node.id] = _seconds(board, node, takes) if is_ordered else None
        limits[node.id] = _limit(board, node)
        yield None
    way = partial(_longest_way, graph, layers)
    return Preview(
        faults=faults,
        layers=layers,
        effects=effects,
        approvals=tuple(node.id for place, node in enumerate(graph) if place in asked),
        seconds=(yield partial(way, lambda node: seconds[node.id])),
        longest=(yield partial(way, lambda node: limits[node.id])),
    )


def _node_at(place: str) -> int:
    """The number of the outermost node that a place is in."""
    found = _NODE.match(place)
    return -1 if found is None else int(found[1])


def _effect(board: ToolHost, node: Node) -> Effect:
    """The strongest effect of all tools that a node may call, those within it included."""
    effects = [Effect.READ]
    for name in node.tools:
        tool, _ = find_tool(board, name)
        effects.append(Effect.WRITE if tool is None else tool.spec.effect)
    if node.graph is not None:
        effects += [_effect(board, inner) for inner in node.graph]
    return max(effects, key=lambda effect: effect.strength)


def _longest_way(
    graph: Graph, layers: tuple[tuple[str, ...], ...], takes: Callable[[Node], float | None]
) -> float | None:
    nodes = {node.id: node for node in graph}
    ends: dict[str, float] = {}
    for layer in layers:
        for name in layer:
            seconds = takes(nodes[name])
            if seconds is None:
                return None
            before = (ends[other] for other in nodes[name].depends_on if other in ends)
            ends[name] = max(before, default=0.0) + seconds
    return round(max(ends.values()), 6) if ends else None


def _seconds(board: ToolHost, node: Node, duration: DurationOf | None) -> float | None:
    if node.graph is not None:
        layers = layers_of(node.graph)
        return _longest_way(node.graph, layers, lambda inner: _seconds(board, inner, duration))
    if node.wait is not None:
        seconds = node.wait.seconds
        return float(seconds) if isinstance(seconds, (int, float)) else None
    if not node.tool:
        return 0.0
    tool, _ = find_tool(board, node.tool)
    return None if duration is None or tool is None else duration(tool.spec.name)


def _limit(board: ToolHost, node: Node) -> float | None:
    if node.timeout is not None:
        return node.timeout
    if node.for_each is not None or node.repeat is not None or node.graph is not None:
        return None
    if node.wait is not None:
        return node.wait.timeout
    limit = 0.0
    for name in node.tools:
        tool, _ = find_tool(board, name)
        if tool is None or not tool.spec.timeout or tool.spec.retry is not None:
            return None
        limit += tool.spec.timeout
    return limit
