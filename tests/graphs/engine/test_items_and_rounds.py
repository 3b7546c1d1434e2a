"""Nodes that run for each item of a list, or in rounds."""

import pytest
from tests.graphs.made import Bench, at_the_bench, call, states

from pegboard.core.graph import ForEach, Node, Repeat
from pegboard.core.run import NodeRun, RunResult
from pegboard.graphs import KINDS, run_graph
from pegboard.graphs.kinds.value import ValueNode
from pegboard.graphs.node_kind import NodeContext


def run(*nodes: Node, **more: object) -> RunResult:
    return at_the_bench(lambda bench: bench.run(*nodes, **more))


def test_a_node_runs_for_each_item_and_gives_the_outputs_in_order() -> None:
    result = run(
        call("list", input={"items": [{"s": 0.3}, {"s": 0.1}]}),
        call(
            "each",
            "read",
            "list",
            for_each=ForEach(items="$.steps.list.output.items"),
            input={"seconds": "$.item.s", "at": "$.index"},
        ),
    )

    assert result.output == {"each": [{"seconds": 0.3, "at": 0}, {"seconds": 0.1, "at": 1}]}
    each = result.node("each")
    assert each is not None
    assert [part.id for part in each.parts] == ["each[0]", "each[1]"]
    assert each.duration_ms == pytest.approx(300)
    assert each.attempts == 2


def test_items_run_so_many_at_once() -> None:
    async def work(bench: Bench) -> tuple[int, RunResult]:
        each = ForEach(items=list(range(7)), concurrency=3)
        result = await bench.run(call("each", for_each=each, input={"n": "$.item"}))
        return bench.world.most, result

    most, result = at_the_bench(work)

    assert most == 3
    assert result.duration_ms == pytest.approx(300)


def test_items_take_no_more_places_than_the_graph_has() -> None:
    async def work(bench: Bench) -> int:
        each = ForEach(items=[1, 2, 3, 4], concurrency=4)
        await bench.run(call("each", for_each=each), concurrency=2)
        return bench.world.most

    assert at_the_bench(work) == 2


def test_each_item_has_a_key_of_its_own() -> None:
    async def work(bench: Bench) -> list[str]:
        await bench.run(call("each", for_each=ForEach(items=[1, 2])))
        return [key.partition(":")[2] for key in bench.world.keys]

    assert at_the_bench(work) == ["each[0]:0", "each[1]:1"]


def test_an_empty_list_gives_an_empty_list() -> None:
    assert run(call("each", for_each=ForEach(items=[]))).output == {"each": []}


@pytest.mark.parametrize(
    ("on_failure", "state", "output", "began"),
    [("fail", "failed", None, 2), ("continue", "completed", [None, {}, {}, {}], 4)],
)
def test_what_a_failed_item_means_is_said(
    on_failure: str, state: str, output: object, began: int
) -> None:
    async def work(bench: Bench) -> tuple[RunResult, int]:
        bench.world.failing["read"] = [ValueError("no")]
        each = ForEach(items=[1, 2, 3, 4], concurrency=2, on_failure=on_failure)  # type: ignore[arg-type]  # one of its words
        return await bench.run(call("each", for_each=each)), len(bench.world.began)

    result, made = at_the_bench(work)

    assert states(result) == {"each": state}
    assert result.nodes[0].output == output
    assert made == began


def test_what_is_no_list_fails_the_node() -> None:
    result = run(
        call("a", input={"n": 1}),
        call("each", "read", "a", for_each=ForEach(items="$.steps.a.output.n")),
    )

    assert result.nodes[1].error is not None
    assert "not a list" in result.nodes[1].error["message"]


def test_a_list_that_is_too_long_fails_the_node() -> None:
    result = run(
        Node(id="each", kind="value", for_each=ForEach(items="$.params.items")),
        given={"items": [0] * 100_001},
    )

    assert result.nodes[0].error is not None
    assert "at most 100000" in result.nodes[0].error["message"]


def test_rounds_go_on_until_the_condition_holds() -> None:
    result = run(
        call(
            "poll", repeat=Repeat(until="output.n == 2"), input={"n": "$.index", "last": "$.output"}
        )
    )

    assert result.output == {"poll": {"n": 2, "last": {"n": 1, "last": {"n": 0, "last": None}}}}
    assert [part.id for part in result.nodes[0].parts] == ["poll#0", "poll#1", "poll#2"]
    assert result.duration_ms == pytest.approx(300)


def test_rounds_that_never_come_to_an_end_fail_the_node() -> None:
    result = run(call("poll", repeat=Repeat(until="false", most=3)))

    assert states(result) == {"poll": "failed"}
    assert len(result.nodes[0].parts) == 3
    assert result.error is not None
    assert "within 3 rounds" in result.error["message"]


def test_a_failed_round_fails_the_node() -> None:
    result = run(call("poll", repeat=Repeat(until="true"), input={"fail": "no"}))

    assert states(result) == {"poll": "failed"}
    assert result.error is not None
    assert result.error["code"] == "tool_failed"


def test_items_may_have_rounds() -> None:
    result = run(
        call(
            "each",
            for_each=ForEach(items=[1, 2]),
            repeat=Repeat(until="output.round == item"),
            input={"round": "$.index"},
        )
    )

    assert result.output == {"each": [{"round": 1}, {"round": 2}]}
    assert result.node("each[1]#2") is not None


class Odd(ValueNode):
    """A kind whose code is wrong."""

    name = "odd"

    async def run(self, context: NodeContext) -> NodeRun:
        raise KeyError(context.step)


def test_a_kind_whose_code_is_wrong_fails_its_node_and_not_the_run() -> None:
    async def work(bench: Bench) -> RunResult:
        from pegboard.core.graph import Graph

        graph = Graph(nodes=(Node(id="a", kind="odd", on_failure="skip"), call("b")))
        return await run_graph(graph, board=bench.registry, kinds={**KINDS, "odd": Odd()})

    result = at_the_bench(work)

    assert states(result) == {"a": "failed", "b": "completed"}
    assert result.nodes[0].error is not None
    assert result.nodes[0].error["message"] == "'a' failed."
