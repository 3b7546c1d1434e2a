"""Nodes that run a graph of their own, and nodes that only gather values."""

import pytest
from tests.graphs.made import Bench, at_the_bench, call, states

from pegboard.core.graph import ForEach, Graph, Node, NodeState, Wait
from pegboard.core.run import RunResult
from pegboard.graphs.kinds.subgraph import SubgraphNode
from pegboard.graphs.kinds.value import ValueNode


def inner(*nodes: Node, **more: object) -> Graph:
    return Graph(nodes=nodes, **more)  # type: ignore[arg-type]  # fields of a graph


TWICE = inner(
    call("one", input={"n": "$.params.n"}),
    call("two", "read", "one", input={"n": "$.steps.one.output.n"}),
    output={"n": "$.steps.two.output.n"},
)


def test_a_graph_within_a_node_has_its_own_params_steps_and_output() -> None:
    async def work(bench: Bench) -> RunResult:
        return await bench.run(
            call("one", input={"n": 5}),
            Node(
                id="sub",
                kind="graph",
                graph=TWICE,
                input={"n": "$.steps.one.output.n"},
                edges=call("x", "read", "one").edges,
            ),
        )

    result = at_the_bench(work)

    assert result.output == {"sub": {"n": 5}}
    assert [part.id for part in result.nodes[1]] == ["sub", "sub/one", "sub/two"]
    assert result.nodes[1].duration_ms == pytest.approx(200)


def test_graphs_nest_within_items() -> None:
    async def work(bench: Bench) -> tuple[RunResult, list[str]]:
        node = Node(
            id="each",
            kind="graph",
            graph=TWICE,
            input={"n": "$.item"},
            for_each=ForEach(items=[1, 2]),
        )
        result = await bench.run(node)
        return result, sorted(key.partition(":")[2] for key in bench.world.keys)

    result, keys = at_the_bench(work)

    assert result.output == {"each": [{"n": 1}, {"n": 2}]}
    assert keys == ["each[0]/one:0", "each[0]/two:0", "each[1]/one:0", "each[1]/two:0"]


def test_a_failure_within_fails_the_node_and_nothing_else_of_the_graph_around() -> None:
    broken = inner(call("bad", input={"fail": "no"}), call("then", "read", "bad"))

    async def work(bench: Bench) -> RunResult:
        return await bench.run(
            Node(id="sub", kind="graph", graph=broken, on_failure="skip"), call("b")
        )

    result = at_the_bench(work)

    assert states(result) == {"sub": "failed", "b": "completed"}
    assert {part.id: part.state for part in result.nodes[0].parts} == {
        "sub/bad": NodeState.FAILED,
        "sub/then": NodeState.CANCELLED,
    }


def test_a_failure_around_lets_what_runs_within_end() -> None:
    slow = inner(call("slow", input={"seconds": 1}), call("then", "read", "slow"))

    async def work(bench: Bench) -> RunResult:
        return await bench.run(
            Node(id="sub", kind="graph", graph=slow), call("bad", input={"fail": "no"})
        )

    result = at_the_bench(work)

    assert states(result) == {"sub": "cancelled", "bad": "failed"}
    assert [part.state.value for part in result.nodes[0].parts] == ["completed", "cancelled"]


def test_places_of_the_graph_around_hold_within() -> None:
    wide = inner(*(call(f"n{i}") for i in range(5)))

    async def work(bench: Bench) -> int:
        await bench.run(
            *(Node(id=f"g{i}", kind="graph", graph=wide) for i in range(3)), concurrency=2
        )
        return bench.world.most

    assert at_the_bench(work) == 2


def test_a_graph_within_may_wait_for_a_person() -> None:
    asking = inner(Node(id="ask", kind="wait", wait=Wait(question="Go?")), call("a", "read", "ask"))

    async def work(bench: Bench) -> RunResult:
        graph = inner(Node(id="sub", kind="graph", graph=asking), call("b"))
        waiting = await bench.runner.run(graph)
        assert waiting.pending[0].id == "sub/ask"
        await bench.runner.answer(waiting.run_id, "sub/ask", 1)
        return await bench.runner.result(waiting.run_id)

    assert states(at_the_bench(work)) == {"sub": "completed", "b": "completed"}


def test_params_within_must_fit() -> None:
    params = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    picky = inner(call("a"), params=params, name="picky")

    async def work(bench: Bench) -> RunResult:
        return await bench.run(
            call("one", input={"n": "x"}),
            Node(
                id="sub",
                kind="graph",
                graph=picky,
                input={"n": "$.steps.one.output.n"},
                edges=call("x", "read", "one").edges,
            ),
        )

    result = at_the_bench(work)

    assert result.error is not None
    assert "params.n" in result.error["message"]


def test_a_value_gathers_what_its_paths_lead_to() -> None:
    async def work(bench: Bench) -> RunResult:
        return await bench.run(
            call("a", input={"n": 1}),
            Node(
                id="v",
                kind="value",
                input={"all": ["$.steps.a.output.n", "$$.5"]},
                edges=call("x", "read", "a").edges,
            ),
        )

    assert at_the_bench(work).output == {"v": {"all": [1, "$.5"]}}


def test_the_kinds_say_what_their_output_is() -> None:
    node = Node(id="g", kind="graph", graph=TWICE)

    assert [code for _, code, _ in SubgraphNode().faults(Node(id="g"))] == ["graph_missing"]
    assert SubgraphNode().output_schema(node, lambda _: {}) == {
        "type": "object",
        "properties": {"n": True},
        "additionalProperties": False,
    }
    assert SubgraphNode().output_schema(Node(id="g", graph=inner(call("a"))), lambda _: {}) is None
    assert list(ValueNode().faults(node)) == []
