"""The dependency graph over time, held against a model that is too simple to be wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import CallerError, DependencyCycle, DependencyNotFound, VersionNotFound
from pegboard.registry.dependencies import Dependency, GraphChange, GraphDiff, VersionedDependencies
from pegboard.registry.dependencies.changes import Edge

CHAIN = GraphChange(
    add_nodes=("a_v1", "b_v1", "c_v1"), add_edges=(("a_v1", "b_v1"), ("b_v1", "c_v1"))
)


def chain() -> VersionedDependencies:
    graph = VersionedDependencies()
    graph.apply(CHAIN)
    return graph


def test_every_change_makes_a_version() -> None:
    graph = chain()
    graph.apply(GraphChange(add_edges=(("a_v1", "c_v1"),)), origin="board")

    assert graph.version == 2
    assert graph.current.edges == (
        Dependency(prerequisite="a_v1", dependant="b_v1", origins=("api",)),
        Dependency(prerequisite="a_v1", dependant="c_v1", origins=("board",)),
        Dependency(prerequisite="b_v1", dependant="c_v1", origins=("api",)),
    )


def test_a_change_that_changes_nothing_makes_none() -> None:
    graph = chain()
    before = graph.current

    assert graph.apply(CHAIN) is before
    assert graph.version == 1
    assert graph.diff(1, 1).is_empty


def test_an_edge_is_removed_whoever_said_it() -> None:
    graph = chain()
    graph.apply(GraphChange(add_edges=(("a_v1", "b_v1"),)), origin="board")
    graph.apply(GraphChange(remove_edges=(("a_v1", "b_v1"),)))

    assert graph.diff(1, 3) == GraphDiff(removed_edges=(("a_v1", "b_v1"),))


def test_removing_a_tool_takes_its_edges_along() -> None:
    graph = chain()
    graph.apply(GraphChange(remove_nodes=("b_v1",)))

    assert graph.current.nodes == ("a_v1", "c_v1")
    assert graph.diff(1, 2) == GraphDiff(
        removed_nodes=("b_v1",), removed_edges=(("a_v1", "b_v1"), ("b_v1", "c_v1"))
    )


def test_a_tool_may_be_replaced_by_itself_without_its_edges() -> None:
    graph = chain()
    graph.apply(GraphChange(remove_nodes=("b_v1",), add_nodes=("b_v1",)))

    assert graph.diff(1, 2) == GraphDiff(removed_edges=(("a_v1", "b_v1"), ("b_v1", "c_v1")))


def test_an_edge_stays_as_long_as_somebody_says_it() -> None:
    graph, edge = chain(), ("a_v1", "b_v1")
    graph.apply(GraphChange(add_edges=(edge,)), origin="spec")
    graph.apply(GraphChange(retract_edges=(edge,)), origin="api")
    said = graph.current.origins(edge)
    graph.apply(GraphChange(retract_edges=(edge,)), origin="spec")

    assert said == ("spec",)
    assert graph.current.origins(edge) == ()
    assert graph.diff(1, 3).changed_origins == ((edge, ("api",), ("spec",)),)
    assert graph.diff(1, 4) == GraphDiff(removed_edges=(edge,))


def test_a_tool_that_nobody_says_any_more_stays_while_it_has_edges() -> None:
    graph = chain()
    graph.apply(GraphChange(retract_nodes=("a_v1",)))
    still = "a_v1" in graph.current
    graph.apply(GraphChange(retract_nodes=("a_v1",), retract_edges=(("a_v1", "b_v1"),)))

    assert still
    assert "a_v1" not in graph.current


@pytest.mark.parametrize("many", [0, 100], ids=["a small graph", "a large one"])
def test_a_cycle_is_refused_by_name(many: int) -> None:
    graph = chain()
    graph.apply(GraphChange(add_nodes=tuple(f"n{number}" for number in range(many))))
    before = graph.current

    with pytest.raises(DependencyCycle) as caught:
        graph.apply(GraphChange(add_nodes=("d_v1",), add_edges=(("c_v1", "a_v1"),)))

    assert str(caught.value) == (
        "These tools would need each other: a_v1 -> b_v1 -> c_v1 -> a_v1. Leave one of them out."
    )
    assert caught.value.edges == (("a_v1", "b_v1"), ("b_v1", "c_v1"), ("c_v1", "a_v1"))
    assert graph.current is before


@pytest.mark.parametrize("many", [0, 100], ids=["a small graph", "a large one"])
def test_a_tool_that_needs_itself_is_a_cycle(many: int) -> None:
    graph = chain()
    graph.apply(GraphChange(add_nodes=tuple(f"n{number}" for number in range(many))))

    with pytest.raises(DependencyCycle, match="a_v1 -> a_v1"):
        graph.apply(GraphChange(add_edges=(("a_v1", "a_v1"),)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            GraphChange(add_edges=(("a_v1", "d_v1"),)),
            "no tool 'd_v1'. Did you mean 'c_v1' or 'b_v1' or 'a_v1'?",
        ),
        (GraphChange(remove_nodes=("xyz",)), "no tool 'xyz'."),
        (GraphChange(retract_nodes=("xyz",)), "no tool 'xyz'."),
        (
            GraphChange(remove_edges=(("a_v1", "c_v1"),)),
            "no dependency 'a_v1 -> c_v1'. Did you mean 'a_v1 -> b_v1' or 'b_v1 -> c_v1'?",
        ),
        (GraphChange(retract_edges=(("b_v1", "a_v1"),)), "no dependency 'b_v1 -> a_v1'."),
        (
            GraphChange(remove_nodes=("a_v1",), add_edges=(("a_v1", "c_v1"),)),
            "no tool 'a_v1'. Did you mean",
        ),
    ],
    ids=["a new edge", "a node", "a retracted node", "an edge", "a retracted edge", "removed too"],
)
def test_what_is_not_there_is_refused_with_the_nearest(change: GraphChange, message: str) -> None:
    graph = chain()

    with pytest.raises(DependencyNotFound) as caught:
        graph.apply(change)

    assert message in str(caught.value)
    assert graph.version == 1


def test_old_versions_are_forgotten_in_the_end() -> None:
    graph = VersionedDependencies(keep=3)
    for number in range(5):
        graph.apply(GraphChange(add_nodes=(f"n{number}",)))

    assert graph.oldest == 2
    assert graph.at(2).nodes == ("n0", "n1")
    with pytest.raises(VersionNotFound, match="has no version 1; kept are 2 to 5"):
        graph.at(1)
    with pytest.raises(VersionNotFound, match="no version 6"):
        graph.diff(3, 6)


def test_large_changes_are_forgotten_sooner() -> None:
    graph = VersionedDependencies(keep_entries=10)
    graph.apply(GraphChange(add_nodes=tuple(f"n{number}" for number in range(10))))
    read = graph.at(0)
    graph.apply(GraphChange(add_nodes=("one_more",)))

    assert (len(read), graph.oldest) == (0, 1)
    with pytest.raises(VersionNotFound):
        graph.at(0)


def test_a_version_that_was_read_is_kept_made() -> None:
    graph = chain()
    graph.apply(GraphChange(remove_nodes=("c_v1",)))

    assert graph.at(1) is graph.at(1)
    assert graph.at(2) is graph.current
    assert graph.at(1).version == 1


def test_many_versions_can_be_read_back() -> None:
    graph = VersionedDependencies()
    graph.apply(GraphChange(add_nodes=("a_v1", *(f"n{number}" for number in range(20)))))
    for number in range(20):
        graph.apply(GraphChange(add_edges=(("a_v1", f"n{number}"),)))

    assert [len(graph.at(version).edges) for version in range(1, 22)] == list(range(21))


# held against a model

NODES = [f"t{number}" for number in range(6)]
EDGES = st.tuples(st.sampled_from(NODES), st.sampled_from(NODES))
CHANGES = st.builds(
    GraphChange,
    add_nodes=st.lists(st.sampled_from(NODES), max_size=2).map(tuple),
    remove_nodes=st.lists(st.sampled_from(NODES), max_size=1).map(tuple),
    add_edges=st.lists(EDGES, max_size=3).map(tuple),
    remove_edges=st.lists(EDGES, max_size=1).map(tuple),
)
State = tuple[frozenset[str], frozenset[Edge]]


def modelled(state: State, change: GraphChange) -> State | None:
    """What a change makes of nodes and edges; None when it is refused."""
    nodes, edges = state
    if not (set(change.remove_nodes) <= nodes and set(change.remove_edges) <= edges):
        return None
    edges = {edge for edge in edges if not set(edge) & set(change.remove_nodes)}
    edges = edges - set(change.remove_edges) | set(change.add_edges)
    nodes = nodes - set(change.remove_nodes) | set(change.add_nodes)
    if not all(set(edge) <= nodes for edge in edges) or _has_cycle(edges):
        return None
    return nodes, frozenset(edges)


def _refusal(graph: VersionedDependencies, change: GraphChange) -> CallerError | None:
    try:
        graph.apply(change)
    except CallerError as error:
        return error
    return None


def _has_cycle(edges: set[Edge]) -> bool:
    left = set(edges)
    while left:
        needing = {after for _, after in left}
        kept = {(before, after) for before, after in left if before in needing}
        if kept == left:
            return True
        left = kept
    return False


@pytest.mark.slow
@pytest.mark.timeout(60)
@given(st.lists(CHANGES, max_size=12), st.booleans())
def test_a_graph_is_at_every_version_what_a_simple_model_says(
    changes: list[GraphChange], is_large: bool
) -> None:
    graph = VersionedDependencies()
    extra = frozenset(f"x{number}" for number in range(100 if is_large else 0))
    states: list[State] = [(frozenset(), frozenset())]
    if is_large:
        graph.apply(GraphChange(add_nodes=tuple(sorted(extra))))
        states.append((extra, frozenset()))
    for change in changes:
        expected = modelled(states[-1], change)
        refused = _refusal(graph, change)
        assert (refused is not None) == (expected is None)
        if isinstance(refused, DependencyCycle):
            assert set(refused.edges) <= states[-1][1] | set(change.add_edges)
            assert len(set(refused.cycle)) == len(refused.cycle)
        if expected is not None and expected != states[-1]:
            states.append(expected)

    assert graph.version == len(states) - 1
    for version, (nodes, edges) in enumerate(states):
        seen = graph.at(version)
        assert set(seen.nodes) == nodes
        assert {(edge.prerequisite, edge.dependant) for edge in seen.edges} == edges
        order = {node: place for place, node in enumerate(seen.order())}
        assert order.keys() == nodes
        assert all(order[before] < order[after] for before, after in edges)
    for old in range(len(states)):
        for new in (0, len(states) // 2, len(states) - 1):
            diff = graph.diff(old, new)
            nodes, edges = states[old]
            after = nodes - set(diff.removed_nodes) | set(diff.added_nodes)
            linked = edges - set(diff.removed_edges) | set(diff.added_edges)
            assert (after, linked) == states[new]
            assert not set(diff.added_nodes) & nodes
            assert not set(diff.added_edges) & edges


def test_what_is_taken_back_was_never_there() -> None:
    graph, other = chain(), chain()
    before = graph.current
    graph.apply(GraphChange(remove_edges=(("a_v1", "b_v1"),)))
    graph.apply(GraphChange(add_nodes=("d_v1",), add_edges=(("c_v1", "a_v1"),)))
    graph.at(2)
    graph.take_back(before)
    with pytest.raises(DependencyCycle):
        graph.apply(GraphChange(add_edges=(("c_v1", "a_v1"),)))
    with pytest.raises(VersionNotFound):
        graph.at(2)
    change = GraphChange(add_nodes=("e_v1",), add_edges=(("a_v1", "e_v1"),))
    graph.apply(change)
    other.apply(change)

    assert graph.current == other.current
    assert graph.diff(0, 2) == other.diff(0, 2)
    assert graph.at(1) == other.at(1) == before
