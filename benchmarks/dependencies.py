"""What questions about the dependency graph of 10,000 tools cost."""

import random
from collections.abc import Callable
from typing import Any

from measure import cpu_s
from table import goal, number, section, table

TOOLS, EDGES, VERSIONS = 10_000, 25_000, 1_000
NEAR, WHOLE = 10.0, 150.0
ROUNDS = 5


def cost_of_dependencies() -> str:
    """Neighbourhood and whole-graph questions, changes, and reading back."""
    from pegboard.registry.dependencies import GraphChange, VersionedDependencies

    nodes = [f"source{place % 50}__tool_{place}_v1" for place in range(TOOLS)]
    graph = VersionedDependencies()
    bulk = GraphChange(add_nodes=tuple(nodes), add_edges=_edges(nodes))
    load = cpu_s(lambda: graph.apply(bulk))
    growing = iter(_more(nodes, graph))
    grown = cpu_s(lambda: [graph.apply(next(growing)) for _ in range(VERSIONS)])
    _check(graph)
    busy = max(nodes, key=lambda node: len(graph.current.dependants(node)))
    old = iter(range(1, graph.version))
    middle = graph.version // 2
    near: dict[str, Callable[[], Any]] = {
        "prerequisites, direct": lambda: graph.current.prerequisites(busy),
        "dependants, direct": lambda: graph.current.dependants(busy),
        "sub-graph, 1 edge around": lambda: graph.current.around(busy, depth=1),
        "sub-graph, 2 edges around": lambda: graph.current.around(busy, depth=2),
    }
    whole: dict[str, Callable[[], Any]] = {
        "all dependants of the first": lambda: graph.current.dependants(nodes[0], transitive=True),
        "what breaks when the first fails": lambda: graph.current.breaks(nodes[0]),
        "order in layers": graph.current.layers,
        "read an old version back": lambda: graph.at(next(old)),  # another one each time
        "diff of the first and the last": lambda: graph.diff(1, graph.version),
        "diff of two neighbours": lambda: graph.diff(middle, middle + 1),
    }
    costs = {name: _ms(work) for name, work in (near | whole).items()}
    rows = [[name, number(cost)] for name, cost in costs.items()]
    rows.append([f"one more edge ({VERSIONS} in turn)", number(grown * 1000 / VERSIONS)])
    rows.append([f"{TOOLS:,} tools and {EDGES:,} edges at once", number(load * 1000)])
    return section(
        f"Dependencies of {TOOLS:,} tools",
        table(["", "CPU, ms"], rows),
        "\n".join(
            (
                goal("the slowest about a neighbourhood", _slowest(costs, near), NEAR, unit=" ms"),
                goal(
                    "the slowest about the whole graph", _slowest(costs, whole), WHOLE, unit=" ms"
                ),
            )
        ),
    )


def _edges(nodes: list[str]) -> tuple[tuple[str, str], ...]:
    """Random ones that always go forward, as a catalogue has them: many short, some far."""
    chosen = random.Random(1)
    pairs: dict[tuple[str, str], None] = {}
    while len(pairs) < EDGES:
        one = chosen.randrange(TOOLS - 1)
        far = TOOLS if chosen.random() < 0.1 else min(TOOLS, one + 100)
        pairs[nodes[one], nodes[chosen.randrange(one + 1, far)]] = None
    return tuple(pairs)


def _more(nodes: list[str], graph: Any) -> Any:
    from pegboard.registry.dependencies import GraphChange

    chosen = random.Random(2)
    order = {node: place for place, node in enumerate(graph.current.order())}
    while True:
        one, other = sorted(chosen.sample(nodes, 2), key=lambda node: order[node])
        if not graph.current.origins((one, other)):
            yield GraphChange(add_edges=((one, other),))


def _check(graph: Any) -> None:
    order = {node: place for place, node in enumerate(graph.current.order())}
    if not all(order[e.prerequisite] < order[e.dependant] for e in graph.current.edges):
        raise AssertionError("the order does not respect an edge")
    if len(graph.at(1).edges) != EDGES or graph.version != VERSIONS + 1:
        raise AssertionError("a version does not read back as it was")


def _ms(work: Callable[[], object]) -> float:
    return min(cpu_s(work) for _ in range(ROUNDS)) * 1000


def _slowest(costs: dict[str, float], names: dict[str, Any]) -> float:
    return max(costs[name] for name in names)
