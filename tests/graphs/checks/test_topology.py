import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graphs.made import after

from pegboard.core.graph import Graph, Node
from pegboard.graphs.checks.topology import Ancestors, cycle_of, layers_of


def graph(**before: str) -> Graph:
    return Graph(nodes=tuple(Node(id=name, edges=after(*names)) for name, names in before.items()))


def test_nodes_that_can_run_at_once_are_in_one_layer_in_the_order_of_the_graph() -> None:
    assert layers_of(graph(d="bc", c="a", b="a", a="", x="")) == (("a", "x"), ("c", "b"), ("d",))


def test_edges_to_nothing_are_left_out() -> None:
    assert layers_of(graph(a="?")) == (("a",),)


@pytest.mark.parametrize(
    ("before", "cycle"),
    [
        ({"a": "", "b": "a"}, ()),
        ({"a": "a"}, ("a", "a")),
        ({"a": "c", "b": "a", "c": "b"}, ("a", "b", "c", "a")),
    ],
)
def test_a_cycle_is_named_in_the_order_of_its_edges(
    before: dict[str, str], cycle: tuple[str, ...]
) -> None:
    assert cycle_of(graph(**before)) == cycle


def test_what_comes_before_is_known_through_others() -> None:
    order = Ancestors(graph(a="", b="a", c="b", x=""))

    assert order.comes_before("a", "c")
    assert not order.comes_before("c", "a")
    assert not order.comes_before("x", "c")
    assert not order.comes_before("c", "c")


@given(st.lists(st.sets(st.integers(0, 20)), min_size=1, max_size=20))
def test_each_node_is_in_a_layer_behind_all_that_it_needs(needs: list[set[int]]) -> None:
    nodes = tuple(
        Node(id=str(place), edges=after(*(str(other) for other in wanted if other < place)))
        for place, wanted in enumerate(needs)
    )
    layers = layers_of(Graph(nodes=nodes))
    place = {name: number for number, layer in enumerate(layers) for name in layer}

    assert place.keys() == {node.id for node in nodes}
    assert all(place[name] < place[node.id] for node in nodes for name in node.depends_on)
    order = Ancestors(Graph(nodes=nodes))
    assert all(order.comes_before(name, node.id) for node in nodes for name in node.depends_on)


def test_nodes_in_a_cycle_come_before_each_other_and_before_what_follows() -> None:
    order = Ancestors(graph(y="c", a="cx", b="a", c="b", x="", z=""))
    ring = "abc"

    assert all(order.comes_before(one, other) for one in ring for other in ring)
    assert all(order.comes_before(name, "y") for name in "abcx")
    assert not order.comes_before("y", "a")
    assert not order.comes_before("z", "y")
    assert not order.comes_before("a", "x")


def test_nodes_that_share_an_id_wait_for_what_either_waits_for() -> None:
    nodes = [("a", ""), ("b", ""), ("c", "a"), ("c", "b"), ("d", "c")]
    order = Ancestors(Graph(nodes=tuple(Node(id=name, edges=after(*b)) for name, b in nodes)))

    assert all(order.comes_before(name, "d") for name in "abc")


@given(st.lists(st.sets(st.integers(0, 11)), min_size=1, max_size=12))
def test_what_comes_before_is_what_can_be_reached_against_the_edges(needs: list[set[int]]) -> None:
    before = {str(place): {str(item) for item in wanted} for place, wanted in enumerate(needs)}
    nodes = tuple(Node(id=name, edges=after(*sorted(found))) for name, found in before.items())
    order = Ancestors(Graph(nodes=nodes))

    for name, wanted in before.items():
        reached, left = set[str](), [item for item in wanted if item in before]
        while left:
            if (item := left.pop()) not in reached:
                reached.add(item)
                left += [other for other in before[item] if other in before]
        assert {other for other in before if order.comes_before(other, name)} == reached
