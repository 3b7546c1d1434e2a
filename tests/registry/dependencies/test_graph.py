"""What one version of the graph can be asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import DependencyNotFound
from pegboard.registry.dependencies import (
    DependencyGraph,
    GraphChange,
    ImpactedTool,
    VersionedDependencies,
)
from pegboard.registry.dependencies.changes import Delta, Edge
from pegboard.registry.dependencies.graph import (
    Direction,
    apply_to_nodes,
    apply_to_rows,
    select_rows,
)


def made(*edges: Edge, also: tuple[str, ...] = ()) -> DependencyGraph:
    nodes = dict.fromkeys([*also, *(node for edge in edges for node in edge)])
    return VersionedDependencies().apply(GraphChange(add_nodes=tuple(nodes), add_edges=edges))


SHOP = made(
    *(("login", "cart"), ("login", "orders"), ("cart", "pay"), ("orders", "refund")),
    *(("pay", "refund"), ("pay", "receipt")),
    also=("alone",),
)


def test_prerequisites_are_direct_or_all_the_nearest_first() -> None:
    assert SHOP.prerequisites("refund") == ("orders", "pay")
    assert SHOP.prerequisites("refund", transitive=True) == ("orders", "pay", "cart", "login")


def test_dependants_are_direct_or_all_the_nearest_first() -> None:
    assert SHOP.dependants("login") == ("cart", "orders")
    assert SHOP.dependants("cart", transitive=True) == ("pay", "receipt", "refund")


def test_a_part_is_a_graph_with_the_edges_inside() -> None:
    near = SHOP.around("cart")

    assert near == made(("login", "cart"), ("cart", "pay"))
    assert near.version == SHOP.version
    assert SHOP.around("cart", depth=0).nodes == ("cart",)
    assert SHOP.around("login", depth=9).nodes == tuple(sorted(set(SHOP.nodes) - {"alone"}))


def test_layers_hold_what_can_run_side_by_side() -> None:
    assert SHOP.layers() == (
        ("alone", "login"),
        ("cart", "orders"),
        ("pay",),
        ("receipt", "refund"),
    )
    assert SHOP.order()[:3] == ("alone", "login", "cart")


def test_what_breaks_is_told_with_the_tool_that_it_breaks_for() -> None:
    assert SHOP.breaks("cart") == (
        ImpactedTool(tool="pay", because="cart"),
        ImpactedTool(tool="receipt", because="pay"),
        ImpactedTool(tool="refund", because="pay"),
    )


def test_what_has_an_alternative_does_not_break() -> None:
    broken = SHOP.breaks("login", has_alternative=lambda gone, _: gone == "cart")

    assert [item.tool for item in broken] == ["cart", "orders", "refund"]


@pytest.mark.parametrize(
    ("direction", "depth", "near"),
    [
        ("prerequisites", 1, ("cart", "pay")),
        ("prerequisites", 9, ("cart", "login", "pay")),
        ("dependants", 9, ("pay", "receipt", "refund")),
    ],
)
def test_what_is_near_in_one_direction_alone(
    direction: Direction, depth: int, near: tuple[str, ...]
) -> None:
    assert SHOP.around("pay", depth=depth, direction=direction).nodes == near


def test_it_shows_how_large_it_is() -> None:
    assert repr(SHOP) == "DependencyGraph(version=1, 7 tools)"
    assert len({SHOP, SHOP}) == 1
    assert SHOP != "a graph"


@pytest.mark.parametrize(
    "ask",
    [
        lambda: SHOP.prerequisites("ordrs"),
        lambda: SHOP.dependants("ordrs"),
        lambda: SHOP.around("ordrs"),
        lambda: SHOP.breaks("ordrs"),
    ],
    ids=["prerequisites", "dependants", "around", "breaks"],
)
def test_an_unknown_tool_is_told_with_the_nearest(ask: object) -> None:
    assert callable(ask)
    with pytest.raises(DependencyNotFound, match=r"no tool 'ordrs'\. Did you mean 'orders'"):
        ask()


NUMBERS = st.integers(0, 9)
FORWARD = st.tuples(NUMBERS, NUMBERS).filter(lambda two: two[0] < two[1])


@given(st.lists(FORWARD, max_size=25), NUMBERS)
def test_reach_and_layers_agree_with_a_walk_of_every_edge(
    pairs: list[tuple[int, int]], start: int
) -> None:
    edges = [(f"n{one}", f"n{other}") for one, other in pairs]
    graph = made(*edges, also=tuple(f"n{number}" for number in range(10)))
    reach = {f"n{start}"}
    for _ in range(10):
        reach |= {after for before, after in edges if before in reach}
    layer = {node: place for place, layer in enumerate(graph.layers()) for node in layer}

    assert {f"n{start}", *graph.dependants(f"n{start}", transitive=True)} == reach
    assert {broken.tool for broken in graph.breaks(f"n{start}")} == reach - {f"n{start}"}
    for node in graph.nodes:
        needs = [layer[before] for before, after in edges if after == node]
        assert layer[node] == max(needs, default=-1) + 1
        assert node in graph.around(node, depth=1)


SPEC = ("spec",)
ROWS = {"a": {"b": SPEC, "c": SPEC}, "b": {"c": SPEC}, "c": {}}


def test_only_rows_that_are_touched_are_new() -> None:
    delta = Delta(nodes={}, edges={("b", "c"): (SPEC, ())})

    after = apply_to_rows(ROWS, delta, [("b", "c", ())])

    assert after == {"a": {"b": SPEC, "c": SPEC}, "b": {}, "c": {}}
    assert ROWS["b"] == {"c": SPEC}
    assert after["a"] is ROWS["a"]


def test_nodes_come_with_a_row_and_go_with_theirs() -> None:
    delta = Delta(
        nodes={"d": ((), SPEC), "b": (SPEC, ())},
        edges={("a", "b"): (SPEC, ()), ("b", "c"): (SPEC, ()), ("a", "d"): ((), SPEC)},
    )

    after = apply_to_rows(ROWS, delta, [("a", "b", ()), ("b", "c", ()), ("a", "d", SPEC)])

    assert after == {"a": {"c": SPEC, "d": SPEC}, "c": {}, "d": {}}


def test_nodes_are_the_same_where_none_changes() -> None:
    nodes = {"a": SPEC, "b": SPEC}
    delta = Delta(nodes={"a": (SPEC, ()), "c": ((), SPEC)}, edges={})

    assert apply_to_nodes(nodes, Delta(nodes={}, edges={})) is nodes
    assert apply_to_nodes(nodes, delta) == {"b": SPEC, "c": SPEC}
    assert nodes == {"a": SPEC, "b": SPEC}


def test_a_part_has_the_rows_of_its_nodes_and_the_edges_between_them() -> None:
    assert select_rows(ROWS, ["c", "a"], {"a", "c"}) == {"c": {}, "a": {"c": SPEC}}
