"""An order that follows a growing graph without walking all of it."""

import random
from itertools import pairwise

from pegboard.registry.dependencies.changes import GraphChange
from pegboard.registry.dependencies.graph import DependencyGraph
from pegboard.registry.dependencies.topological_order import TopologicalOrder
from pegboard.registry.dependencies.versioned import VersionedDependencies


class Counted(DependencyGraph):
    """Counts how many nodes are looked at."""

    looked_at = 0

    def neighbours(self, node: str):
        type(self).looked_at += 1
        return super().neighbours(node)

    def needs(self, node: str):
        type(self).looked_at += 1
        return super().needs(node)


def counted(graph: DependencyGraph) -> Counted:
    return Counted(
        nodes=graph._nodes, dependants=graph._dependants, prerequisites=graph._prerequisites
    )


def test_an_edge_that_goes_up_looks_at_nothing() -> None:
    nodes = [f"n{number:03}" for number in range(500)]
    graph = VersionedDependencies().apply(
        GraphChange(add_nodes=tuple(nodes), add_edges=(("n001", "n400"),))
    )
    ranks = TopologicalOrder()
    ranks.add(nodes, [], graph)
    Counted.looked_at = 0

    assert ranks.add((), [("n001", "n400")], counted(graph)) == ()
    assert Counted.looked_at == 0


def test_an_edge_that_goes_down_looks_only_between_its_ends() -> None:
    nodes = [f"n{number:03}" for number in range(500)]
    chain = tuple(pairwise(nodes))
    graph = VersionedDependencies()
    graph.apply(GraphChange(add_nodes=(*nodes, "late"), add_edges=chain))
    edge = ("late", "n495")
    ranks = TopologicalOrder()
    ranks.add([], list(chain), graph.current)
    new = graph.apply(GraphChange(add_edges=(edge,)))
    Counted.looked_at = 0
    found = ranks.add((), [edge], counted(new))

    assert found == ()
    assert Counted.looked_at < 20


def test_random_edges_never_break_the_order() -> None:
    shuffled = random.Random(7)  # the same each time
    nodes = [f"n{number}" for number in range(60)]
    hidden = nodes.copy()
    shuffled.shuffle(hidden)
    graph = VersionedDependencies()
    graph.apply(GraphChange(add_nodes=tuple(nodes)))
    for _ in range(300):
        one, other = sorted(shuffled.sample(range(60), 2))
        graph.apply(GraphChange(add_edges=((hidden[one], hidden[other]),)))
        ranks = graph._ranks._ranks
        assert all(ranks[e.prerequisite] < ranks[e.dependant] for e in graph.current.edges)
