"""What is wrong with a graph by itself, and that looking takes no time, whatever it looks like."""

import time

import pytest
from tests.graphs.made import after, call

from pegboard import ToolRegistry
from pegboard.core.graph import Edge, ForEach, Graph, Node
from pegboard.core.principal import LOCAL
from pegboard.errors import GraphInvalid
from pegboard.graphs import check, preview
from pegboard.graphs.checks.check import refuse_faults
from pegboard.graphs.checks.context import CheckContext
from pegboard.graphs.checks.structure import MAX_EDGES, MAX_NODES, structure_faults
from pegboard.graphs.kinds import KINDS

EMPTY = ToolRegistry()


def codes(*nodes: Node) -> list[str]:
    return [fault.code for fault in structure_faults(Graph(nodes=nodes), KINDS)]


def one_of_each(number: int) -> tuple[Edge, ...]:
    return tuple(
        Edge(node=f"n{before}", outcome="failed" if before % 2 else "completed")
        for before in range(max(0, number - 20), number)
    )


def test_a_node_that_needs_both_ends_of_another_never_runs() -> None:
    way = (call("a"), call("b", edges=after("a")), call("c", edges=after("a", outcome="failed")))

    assert codes(*way, call("d", edges=after("b", "c"))) == ["unreachable"]
    assert codes(*way, call("d", edges=after("b", "c"), join="any")) == []
    assert codes(*way, call("d", edges=(*after("b"), Edge(node="c", outcome="any")))) == [
        "unreachable"
    ]


def test_a_failure_that_counts_as_done_is_both() -> None:
    first = call("a", on_failure="continue")
    both = (*after("a"), Edge(node="a", outcome="failed"))

    assert "unreachable" not in codes(first, call("b", edges=both))
    assert codes(call("a"), call("b", edges=both)) == ["unreachable"]


@pytest.mark.slow
def test_ways_out_of_failures_are_followed_quickly() -> None:
    nodes = tuple(call(f"n{number}", edges=one_of_each(number)) for number in range(2_000))
    begun = time.thread_time()

    assert codes(*nodes) == []
    assert time.thread_time() - begun < 3


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param(tuple(call(f"n{n}") for n in range(MAX_NODES + 1)), id="nodes"),
        pytest.param((call("a"), call("b", edges=after(*["a"] * (MAX_EDGES + 1)))), id="edges"),
    ],
)
def test_more_than_anybody_checks_is_one_fault(nodes: tuple[Node, ...]) -> None:
    seen = preview(Graph(nodes=nodes), board=EMPTY)

    assert [fault.code for fault in seen.faults] == ["graph_too_large"]
    assert seen.layers == ()


def test_a_long_list_of_items_is_looked_at_as_a_whole() -> None:
    node = call("a", "nothing", for_each=ForEach(items=["x"] * 100_000))
    begun = time.thread_time()

    assert [fault.code for fault in check(Graph(nodes=(node,)), board=EMPTY)] == ["tool_unknown"]
    assert time.thread_time() - begun < 3


async def test_of_very_many_faults_the_foremost_are_told() -> None:
    node = Node(id="a", tool="t", input={f"k{n}": f"$.steps.no{n}.output" for n in range(3_000)})
    graph = Graph(nodes=(node,))
    seen = preview(graph, board=EMPTY)

    assert len(seen.faults) == 3_001
    assert len(seen.to_dict()["faults"]) == 1_000
    with pytest.raises(GraphInvalid) as refused:
        await refuse_faults(graph, CheckContext(board=EMPTY, principal=LOCAL, kinds=KINDS))
    assert len(refused.value.problems) == 100


def test_a_cycle_of_very_many_nodes_is_looked_at_quickly() -> None:
    count = 5_000
    nodes = tuple(
        call(f"n{n}", "nothing", edges=after(f"n{(n + 1) % count}")) for n in range(count)
    )
    begun = time.thread_time()

    found = check(Graph(nodes=nodes), board=EMPTY)

    assert {fault.code for fault in found} == {"cycle", "tool_unknown"}
    assert time.thread_time() - begun < 5
