"""What tools say of themselves, in the graph."""

import pytest

from pegboard.core.tool import ToolSpec
from pegboard.errors import DependencyCycle
from pegboard.registry.dependencies import GraphChange, VersionedDependencies, declare, resolve_id
from pegboard.registry.dependencies.declared import check_declared, cycle_through


def spec(name: str, *needs: str) -> ToolSpec:
    return ToolSpec(name=name, input_schema={"type": "object"}, dependencies=needs)


def edges(graph: VersionedDependencies) -> set[tuple[str, str, str]]:
    return {(e.prerequisite, e.dependant, ",".join(e.origins)) for e in graph.current.edges}


def test_tools_name_what_they_need_by_id_or_by_name() -> None:
    graph = VersionedDependencies()

    problems = declare(graph, [spec("a"), spec("b", "a"), spec("c", "a_v1", "b_v1")])

    assert problems == ()
    assert graph.version == 1
    assert edges(graph) == {
        ("a_v1", "b_v1", "spec"),
        ("a_v1", "c_v1", "spec"),
        ("b_v1", "c_v1", "spec"),
    }


def test_an_author_need_not_know_what_the_source_is_called() -> None:
    graph = VersionedDependencies()
    alone = [spec("fetch"), spec("shop__sum", "fetch_v1", "count", "other__count_v1")]

    declare(graph, [*alone, spec("shop__count"), spec("other__count")])
    assert set(graph.current.prerequisites("shop__sum_v1")) == {
        "fetch_v1",
        "shop__count_v1",
        "other__count_v1",
    }

    declare(graph, [*alone, spec("shop__fetch"), spec("other__count")])
    assert set(graph.current.prerequisites("shop__sum_v1")) == {
        "shop__fetch_v1",
        "shop__count_v1",
        "other__count_v1",
    }


def test_a_circle_of_tools_of_one_source_is_refused_too() -> None:
    ours = [spec("shop__a", "b_v1"), spec("shop__b", "a")]

    with pytest.raises(DependencyCycle, match="shop__a_v1"):
        check_declared(ours, ours=ours)


def test_what_is_needed_and_missing_is_a_node_all_the_same() -> None:
    graph = VersionedDependencies()
    declare(graph, [spec("a"), spec("b", "a")])
    declare(graph, [spec("b", "a_v1")])

    assert graph.version == 1
    assert graph.current.prerequisites("b_v1") == ("a_v1",)


def test_what_is_no_longer_said_goes() -> None:
    graph = VersionedDependencies()
    declare(graph, [spec("a"), spec("b", "a"), spec("c", "b")])
    declare(graph, [spec("a"), spec("b")])

    assert graph.current.nodes == ("a_v1", "b_v1")
    assert graph.current.edges == ()


def test_what_others_say_is_left_alone() -> None:
    graph = VersionedDependencies()
    declare(graph, [spec("a"), spec("b", "a")])
    said = GraphChange(add_nodes=("x_v1",), add_edges=(("a_v1", "b_v1"), ("x_v1", "b_v1")))
    graph.apply(said, origin="board")
    declare(graph, [spec("b")])

    assert edges(graph) == {("a_v1", "b_v1", "board"), ("x_v1", "b_v1", "board")}


def test_saying_it_again_changes_nothing() -> None:
    graph, specs = VersionedDependencies(), [spec("a"), spec("b", "a")]
    declare(graph, specs)
    declare(graph, specs)

    assert graph.version == 1


def test_of_each_cycle_one_edge_is_left_out_and_told() -> None:
    graph = VersionedDependencies()
    circle = [spec("a", "c"), spec("b", "a"), spec("c", "b"), spec("d", "d"), spec("e", "a")]

    problems = declare(graph, circle)

    assert sorted(sorted(problem.cycle) for problem in problems) == [
        ["a_v1", "b_v1", "c_v1"],
        ["d_v1"],
    ]
    assert edges(graph) == {
        ("c_v1", "a_v1", "spec"),
        ("a_v1", "b_v1", "spec"),
        ("a_v1", "e_v1", "spec"),
    }


def test_what_is_away_for_a_while_keeps_what_it_said() -> None:
    graph = VersionedDependencies()
    declare(
        graph, [spec("late__a"), spec("late__b", "late__a"), spec("c", "late__b"), spec("gone")]
    )
    before = edges(graph)
    declare(graph, [spec("c", "late__b")], is_away=lambda node: node.startswith("late__"))

    assert edges(graph) == before
    assert graph.current.nodes == ("c_v1", "late__a_v1", "late__b_v1")


def test_a_name_stands_for_the_id_that_it_had() -> None:
    nodes = ("a__find_v1", "a__find_v2x", "a__findings_v1", "b_v")

    assert resolve_id("a__find", nodes) == "a__find_v1"
    assert resolve_id("b", nodes) == "b"


@pytest.mark.parametrize(
    ("edges", "cycle"),
    [
        ([], ()),
        ([("a", "b"), ("b", "c"), ("a", "c")], ()),
        ([("a", "a")], ("a",)),
        ([("b", "c"), ("c", "a"), ("a", "b")], ("a", "b", "c")),
        ([("x", "a"), ("a", "b"), ("b", "a"), ("b", "y")], ("a", "b")),
    ],
    ids=["nothing", "none", "itself", "three", "with others around"],
)
def test_a_cycle_is_named_in_order(edges: list[tuple[str, str]], cycle: tuple[str, ...]) -> None:
    assert cycle_through(edges) == cycle


def test_circles_of_others_are_left_alone() -> None:
    others = [("a", "b"), ("b", "a"), ("c", "c"), ("b", "d")]

    assert cycle_through(others, is_ours=lambda node: node == "d") == ()
    assert cycle_through([*others, ("d", "d")], is_ours=lambda node: node == "d") == ("d",)


def test_a_very_long_circle_is_found() -> None:
    edges = [(f"n{at}", f"n{(at + 1) % 20_000}") for at in range(20_000)]

    assert len(cycle_through(edges)) == 20_000
