"""Wrong graphs, each with everything that is wrong with it."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.graphs.boards import BOARD, HEALTH, any_, fetch
from tests.graphs.wrong_graphs import TABLE

from pegboard.core.context import ToolContext
from pegboard.core.graph import Fallback, Graph, Node
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Effect, ToolSpec
from pegboard.errors import GraphInvalid
from pegboard.graphs import KINDS, check
from pegboard.graphs.checks.check import MAX_DEPTH, refuse_faults
from pegboard.graphs.checks.context import CheckContext
from pegboard.graphs.checks.faults import step_at
from pegboard.registry import ToolRegistry
from pegboard.tools import SchemaTool


def found(graph: Graph, **more: Any) -> list[str]:
    faults = check(graph, board=BOARD, **more)
    return [f"{'~' if fault.is_note else ''}{fault.place} {fault.code}" for fault in faults]


@pytest.mark.parametrize("case", TABLE)
def test_every_fault_is_told_at_once_with_its_place(case: str) -> None:
    nodes, more, expected = TABLE[case]

    told = found(Graph(nodes=nodes, **more), env={"STAGE"})

    assert told == (expected.split(" | ") if expected else [])


def test_each_fault_has_a_sentence_that_helps() -> None:
    said = {
        fault.code: fault.message
        for nodes, more, _ in TABLE.values()
        for fault in check(Graph(nodes=nodes, **more), board=BOARD, env={"STAGE"})
    }

    mute = {code: text for code, text in said.items() if len(text.split()) < 5}
    assert mute == {}
    assert "a -> b -> c -> a" in said["cycle"] or "a -> a" in said["cycle"]
    assert (
        "Did you mean 'web__fetch'"
        in check(Graph(nodes=(any_(tool="web__fetsh"),)), board=BOARD)[0].message
    )
    assert "1.2.3" in said["version_unknown"]


def test_a_cycle_is_named_in_the_order_of_its_edges() -> None:
    graph = Graph(nodes=(any_("a", "c"), any_("b", "a"), any_("c", "b")))

    assert "a -> b -> c -> a" in check(graph, board=BOARD)[0].message


def test_hidden_tools_are_never_named() -> None:
    for name in ("secret__tol", "denied__tol"):
        (fault,) = check(
            Graph(nodes=(any_(tool=name),)), board=BOARD, principal=Principal(id="eve")
        )

        assert "secret__tool" not in fault.message
        assert "denied__tool" not in fault.message


def test_each_step_is_judged_for_this_caller() -> None:
    graph = Graph(nodes=(any_(tool="secret__tool"),))

    (fault,) = check(graph, board=BOARD, principal=Principal(id="eve"))
    assert "lacks the scope secret" in fault.message
    assert (
        check(graph, board=BOARD, principal=Principal(id="ada", scopes=frozenset({"secret"}))) == []
    )


def test_a_tool_that_is_not_well_needs_a_fallback() -> None:
    graph = Graph(
        nodes=(
            fetch("a"),
            fetch("b", fallbacks=(Fallback(tool="any__thing"),)),
            Node(id="c", tool="text__sum", input={"text": "t"}),
        )
    )

    assert found(graph, health=HEALTH.get) == [
        "nodes[0].tool tool_unhealthy",
        "~nodes[1].tool tool_unhealthy",
        "~nodes[2].tool tool_degraded",
    ]


def test_graphs_are_not_endlessly_deep() -> None:
    graph = Graph(nodes=(any_(),))
    for _ in range(MAX_DEPTH + 1):
        graph = Graph(nodes=(Node(id="g", kind="graph", graph=graph),))

    assert [line.rpartition(" ")[2] for line in found(graph)] == ["graph_too_deep"]


async def test_a_graph_with_faults_is_refused_and_notes_are_no_faults() -> None:
    terms = CheckContext(board=BOARD, principal=LOCAL, kinds=KINDS)
    await refuse_faults(Graph(nodes=(any_(tool="old__tool"),)), terms)

    graph = Graph(nodes=(any_("a", "b"), any_(tool="no__tool")), name="g")
    with pytest.raises(GraphInvalid) as caught:
        await refuse_faults(graph, terms)

    assert [problem.kind for problem in caught.value.problems] == [
        "edge_to_nothing",
        "tool_unknown",
    ]
    assert "nodes[0].edges[0].node: Step 'a': There is no node 'b'." in str(caught.value)


def test_a_fault_says_itself_as_data_and_as_text() -> None:
    (fault,) = check(Graph(nodes=()), board=BOARD)

    assert str(fault) == "nodes: A graph has at least one node."
    assert fault.to_dict() == {
        "code": "graph_empty",
        "place": "nodes",
        "step": "",
        "message": "A graph has at least one node.",
        "severity": "fault",
    }


def test_ten_thousand_nodes_are_checked_in_a_moment() -> None:
    nodes = (
        any_("n0"),
        *(
            any_(f"n{i}", f"n{i - 1}", input={"x": f"$.steps.n{i - 1}.output"})
            for i in range(1, 3000)
        ),
    )

    assert check(Graph(nodes=nodes), board=BOARD) == []


def test_a_fault_names_the_step_as_a_run_does() -> None:
    inner = Graph(nodes=(any_(), any_("deep", tool="no__tool")))
    graph = Graph(nodes=(any_(), Node(id="outer", kind="graph", graph=inner)))

    (fault,) = check(graph, board=BOARD)

    assert (fault.step, fault.place) == ("outer/deep", "nodes[1].graph.nodes[1].tool")
    assert str(fault).startswith("step 'outer/deep' (nodes[1].graph.nodes[1].tool): There is no")
    assert step_at(graph, "nodes[7].tool") == ""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"type": "string"}, ["~nodes[0].input.path input_doubtful"]),
        ({"type": "string", "default": "/etc"}, []),
        ({"type": "string", "default": "etc"}, ["~nodes[0].input.path input_doubtful"]),
    ],
    ids=["nothing is known", "it fits", "it does not fit"],
)
def test_what_is_known_to_fit_is_no_doubt(given: dict[str, Any], expected: list[str]) -> None:
    wanted = {"type": "object", "properties": {"path": {"type": "string", "pattern": "^/"}}}

    async def run(arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        return arguments

    spec = ToolSpec(name="look", description="", input_schema=wanted, effect=Effect.READ)
    board = ToolRegistry([SchemaTool(spec=spec, run=run)])
    node = Node(id="a", tool="look", input={"path": "$.params.where"})
    params = {"type": "object", "properties": {"where": given}}

    assert [
        f"{'~' if fault.is_note else ''}{fault.place} {fault.code}"
        for fault in check(Graph(nodes=(node,), params=params), board=board)
    ] == expected


@pytest.mark.parametrize(
    ("node", "says"),
    [
        (fetch("a"), "Give it a fallback. 'another' could stand in for it."),
        (Node(id="a", tool="gone__tool"), "Give it a fallback. 'another' could stand in for it."),
        (Node(id="a", tool="lost__it@1.2"), "no tool 'lost__it@1.2'. 'another' could stand in"),
    ],
    ids=["unhealthy", "unavailable", "unknown"],
)
def test_a_fault_names_what_could_stand_in(node: Node, says: str) -> None:
    known = {node.tool.partition("@")[0]: "another"}

    faults = check(
        Graph(nodes=(node,)),
        board=BOARD,
        health=HEALTH.get,
        stand_in=lambda name: known.get(name, ""),
    )

    assert says in {fault.place: fault.message for fault in faults}["nodes[0].tool"]
