import pytest

from pegboard.core.graph import Edge, Fallback, Graph, Node, NodeState

GRAPH = Graph(
    nodes=(
        Node(id="fetch", tool="web__fetch", fallbacks=(Fallback(tool="cache__fetch"),)),
        Node(
            id="sum",
            tool="llm__sum",
            edges=(Edge(node="fetch"), Edge(node="fetch", outcome="failed")),
        ),
    )
)


def test_a_node_says_what_comes_before_and_which_tools_it_tries() -> None:
    fetch, total = GRAPH

    assert total.depends_on == ("fetch",)
    assert fetch.tools == ("web__fetch", "cache__fetch")
    assert Node(id="wait", kind="wait").tools == ()


def test_a_node_is_found_by_its_id() -> None:
    assert GRAPH.node("sum") is GRAPH.nodes[1]
    assert GRAPH.node("nothing") is None


def test_a_changed_graph_is_a_copy() -> None:
    assert GRAPH.replace(id="p1").id == "p1"
    assert GRAPH.id == ""


@pytest.mark.parametrize(
    ("state", "final"),
    [
        (NodeState.PENDING, False),
        (NodeState.WAITING, False),
        (NodeState.PAUSED, False),
        (NodeState.COMPLETED, True),
        (NodeState.SKIPPED, True),
        (NodeState.UNKNOWN, True),
    ],
)
def test_a_state_says_whether_it_is_the_last(state: NodeState, final: bool) -> None:
    assert state.is_final is final
