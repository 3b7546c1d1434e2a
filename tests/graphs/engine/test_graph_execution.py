"""The order of nodes: what runs when, what is skipped, and what a failure ends."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.features.conversations.made import a_board, ask
from tests.graphs.made import Bench, after, at_the_bench, call, states

from pegboard import ToolContext
from pegboard.core.event import NodeChanged, RunFinished, RunStarted
from pegboard.core.graph import Edge, Graph, Node, NodeState
from pegboard.core.model_messages import ModelPart, ModelRequest
from pegboard.core.principal import Principal
from pegboard.core.run import RunResult
from pegboard.errors import GraphInvalid, InvalidRequest
from pegboard.graphs import run_graph
from pegboard.testing import ScriptedModel

FAILS = {"fail": "no"}


def run(*nodes: Node, **more: object) -> RunResult:
    return at_the_bench(lambda bench: bench.run(*nodes, **more))


def test_nodes_that_do_not_need_each_other_run_at_the_same_time() -> None:
    result = run(call("a"), call("b"), call("c"))

    assert result.state is NodeState.COMPLETED
    assert result.duration_ms == pytest.approx(100)


def test_a_node_runs_as_soon_as_what_it_needs_has_ended_and_no_later() -> None:
    async def work(bench: Bench) -> dict[str, float]:
        await bench.run(
            call("fast", input={"seconds": 0.1, "n": "fast"}),
            call("slow", input={"seconds": 1, "n": "slow"}),
            call("next", "read", "fast", input={"n": "next"}),
        )
        began = {str(arguments["n"]): at for _, arguments, at in bench.world.began}
        return {name: at - began["fast"] for name, at in began.items()}

    assert at_the_bench(work) == pytest.approx({"fast": 0, "slow": 0, "next": 0.1})


def test_outputs_flow_along_paths() -> None:
    result = run(
        call("a", input={"n": "$.params.n", "list": [1, {"x": "$.params.n"}]}),
        call(
            "b",
            "read",
            "a",
            input={"got": "$.steps.a.output.list[1].x", "first": "$.steps[0].state"},
        ),
        given={"n": 7},
    )

    assert result.output == {"b": {"got": 7, "first": "completed"}}


def test_the_output_is_what_the_graph_says() -> None:
    nodes = (call("a", input={"n": 1}), call("b", "read", "a"))

    assert run(*nodes, output={"n": "$.steps.a.output.n"}).output == {"n": 1}
    assert run(*nodes, output="$.steps.a.output").output == {"n": 1}


def test_an_output_that_leads_to_nothing_fails_the_run() -> None:
    result = run(call("a"), output="$.steps.a.output.missing")

    assert result.state is NodeState.FAILED
    assert result.error is not None
    assert "missing" in result.error["message"]


@pytest.mark.parametrize(("n", "expected"), [(1, "completed"), (0, "skipped")])
def test_a_condition_decides_whether_a_node_runs(n: int, expected: str) -> None:
    result = run(
        call("a", input={"n": n}),
        call("b", "read", "a", when="steps.a.output.n > 0"),
        call("c", "read", "b"),
    )

    assert states(result) == {"a": "completed", "b": expected, "c": expected}


def test_a_router_stops_the_other_branch_and_a_join_of_any_goes_on() -> None:
    result = run(
        call("ask", input={"n": 1}),
        call("left", edges=(Edge(node="ask", when="steps.ask.output.n == 1"),)),
        call("right", edges=(Edge(node="ask", when="steps.ask.output.n != 1"),)),
        call("both", "read", "left", "right"),
        call(
            "one",
            "read",
            "left",
            "right",
            join="any",
            input={"left": "$.steps.left.state", "right": "$.steps.right.output"},
        ),
    )

    assert states(result) == {
        "ask": "completed",
        "left": "completed",
        "right": "skipped",
        "both": "skipped",
        "one": "completed",
    }
    assert result.output == {"one": {"left": "completed"}}


def test_a_join_of_any_waits_until_every_branch_is_known() -> None:
    async def work(bench: Bench) -> float:
        await bench.run(
            call("fast"),
            call("slow", input={"seconds": 1}),
            call("join", "look", "fast", "slow", join="any"),
        )
        return bench.world.began[-1][2] - bench.world.began[0][2]

    assert at_the_bench(work) == pytest.approx(1)


def test_a_failed_node_lets_its_siblings_end_and_starts_nothing_new() -> None:
    async def work(bench: Bench) -> tuple[RunResult, list[str]]:
        result = await bench.run(
            call("bad", input=FAILS),
            call("pay", "pay", input={"seconds": 1}),
            call("then", "look", "pay"),
        )
        return result, [tool for tool, _, _ in bench.world.ended]

    result, ended = at_the_bench(work)

    assert states(result) == {"bad": "failed", "pay": "completed", "then": "cancelled"}
    assert ended == ["pay"]
    assert result.state is NodeState.FAILED
    assert result.error is not None
    assert (result.error["code"], result.error["node"]) == ("tool_failed", "bad")
    assert result.nodes[2].reason == "'bad' failed"


def test_skip_skips_what_depends_on_a_failure_and_nothing_else() -> None:
    result = run(
        call("bad", input=FAILS, on_failure="skip"),
        call("then", "read", "bad"),
        call("other"),
    )

    assert states(result) == {"bad": "failed", "then": "skipped", "other": "completed"}
    assert result.state is NodeState.COMPLETED


def test_continue_goes_on_without_an_output() -> None:
    result = run(
        call("bad", input=FAILS, on_failure="continue"),
        call(
            "then",
            "read",
            "bad",
            input={"got": "$.steps.bad.output.x", "l": ["$.steps.bad.output"]},
        ),
    )

    assert states(result) == {"bad": "failed", "then": "completed"}
    assert result.output == {"then": {"l": [None]}}


def test_an_error_branch_runs_when_its_node_failed_and_the_run_goes_on() -> None:
    result = run(
        call("bad", input=FAILS),
        call("then", "read", "bad"),
        call(
            "mend",
            edges=after("bad", outcome="failed"),
            input={"why": "$.steps.bad.error.message", "code": "$.steps.bad.error.code"},
        ),
        call("always", edges=after("bad", outcome="any")),
    )

    assert states(result) == {
        "bad": "failed",
        "then": "skipped",
        "mend": "completed",
        "always": "completed",
    }
    assert result.state is NodeState.COMPLETED
    mend = result.node("mend")
    assert mend is not None
    assert mend.output["code"] == "tool_failed"


def test_an_error_branch_of_a_node_that_completed_is_skipped() -> None:
    result = run(call("good"), call("mend", edges=after("good", outcome="failed")))

    assert states(result) == {"good": "completed", "mend": "skipped"}


def test_a_condition_that_cannot_be_told_fails_its_node_and_is_not_taken_for_true() -> None:
    result = run(call("a"), call("b", "pay", "a", when="steps.a.output.missing == 1"))

    assert states(result) == {"a": "completed", "b": "failed"}
    b = result.node("b")
    assert b is not None
    assert b.error is not None
    assert "missing" in b.error["message"]


def test_no_more_nodes_run_at_once_than_the_graph_allows() -> None:
    async def work(bench: Bench) -> int:
        await bench.run(*(call(f"n{i}") for i in range(10)), concurrency=3)
        return bench.world.most

    assert at_the_bench(work) == 3


def test_an_input_that_leads_to_nothing_fails_the_node_and_says_which() -> None:
    result = run(
        call("a", input={"list": []}),
        call("b", "read", "a", input={"x": "$.steps.a.output.list[0]"}),
    )

    b = result.node("b")
    assert b is not None
    assert b.error is not None
    assert "input 'x'" in b.error["message"]


def test_calls_carry_who_runs_them_the_run_and_a_key_of_their_own() -> None:
    ada = Principal(id="ada", tenant="acme")

    async def work(bench: Bench) -> None:
        ctx = ToolContext(principal=ada, call_id="c1")
        result = await bench.run(call("a"), call("b"), ctx=ctx)
        made = bench.world.contexts

        assert {ctx.run_id for ctx in made} == {result.run_id}
        assert {ctx.principal for ctx in made} == {ada}
        assert {ctx.parent_id for ctx in made} == {"c1"}
        assert bench.world.keys == [f"{result.run_id}:a:0", f"{result.run_id}:b:0"]
        assert {record.run_id for record in bench.heard.records} == {result.run_id}

    at_the_bench(work)


def test_a_run_is_told_from_its_start_to_its_end() -> None:
    async def work(bench: Bench) -> None:
        await bench.run(call("a"), call("b", "read", "a", when="false"), id="g")
        told = bench.heard.events
        changes = [(e.node, e.state) for e in told if isinstance(e, NodeChanged)]

        assert [type(told[0]), type(told[-1])] == [RunStarted, RunFinished]
        assert changes == [
            ("a", "ready"),
            ("a", "in_progress"),
            ("a", "completed"),
            ("b", "skipped"),
        ]

    at_the_bench(work)


def test_a_node_has_until_its_timeout_whatever_it_tries() -> None:
    result = run(call("a", input={"seconds": 10}, timeout=1, on_failure="skip"), call("b"))

    a = result.node("a")
    assert a is not None
    assert a.error is not None
    assert a.error["code"] == "timeout"
    assert result.duration_ms == pytest.approx(1000, abs=50)


def test_a_run_has_until_its_timeout() -> None:
    result = run(
        call("a", input={"seconds": 10}, on_failure="skip"), call("b", "read", "a"), timeout=2
    )

    assert result.state is NodeState.FAILED
    assert result.error is not None
    assert "within 2 s" in result.error["message"]
    assert result.duration_ms == pytest.approx(2000, abs=50)


def test_what_did_not_begin_in_time_is_not_begun() -> None:
    async def work(bench: Bench) -> tuple[RunResult, int]:
        nodes = (call("a", input={"seconds": 1}), call("b", "pay", timeout=0.5))
        return await bench.run(*nodes, concurrency=1), bench.world.starts_of("pay")

    result, paid = at_the_bench(work)

    assert paid == 0
    b = result.node("b")
    assert b is not None
    assert b.error is not None
    assert "was not started" in b.error["message"]


def test_a_graph_with_faults_does_not_run() -> None:
    with pytest.raises(GraphInvalid, match="nothing"):
        run(call("a", "nothing"))


def test_params_are_held_against_the_schema_of_the_graph() -> None:
    params = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "m": {"default": 5}, "o": {}},
        "required": ["n"],
    }
    node = call(
        "a", input={"n": "$.params.n", "m": "$.params.m", "o": "$.params.o", "all": "$.params"}
    )

    assert run(node, params=params, given={"n": "3"}).output == {
        "a": {"n": 3, "m": 5, "all": {"n": 3, "m": 5}}
    }
    with pytest.raises(InvalidRequest, match=r"params\.n"):
        run(node, params=params, given={"n": "x"})


def test_a_condition_sees_which_params_were_given() -> None:
    params = {"type": "object", "properties": {"n": {"type": "integer"}}}
    node = call("a", when="has(params.n) && params.n > 1")

    assert states(run(node, params=params, given={})) == {"a": "skipped"}
    assert states(run(node, params=params, given={"n": 2})) == {"a": "completed"}


def test_the_environment_is_what_the_operator_lets_graphs_read() -> None:
    async def work(bench: Bench) -> RunResult:
        graph = Graph(nodes=(call("a", input={"x": "$.env.STAGE"}, when="env.STAGE == 'test'"),))
        return await run_graph(graph, board=bench.registry, env={"STAGE": "test"})

    assert at_the_bench(work).output == {"a": {"x": "test"}}


def test_a_long_chain_of_nodes_is_no_trouble() -> None:
    nodes = tuple(
        Node(id=f"n{i}", kind="value", edges=after(f"n{i - 1}") if i else ()) for i in range(2000)
    )

    assert run(*nodes).state is NodeState.COMPLETED


class OddModel(ScriptedModel):
    """A model whose client has a fault."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        raise ValueError("the cause")
        yield  # a generator, as the others


async def test_an_operator_finds_the_exception_behind_the_error_id_of_a_step(
    tmp_path: Path,
) -> None:
    async with a_board(tmp_path, kind=OddModel) as (board, _):
        events, _ = await ask(board, "hi")
        (shown,) = [event.data for event in events if event.event == "error"]
        detail = await board.history.detail(shown["error_id"])

    assert detail is not None
    assert detail["step"] == "agent"
    assert "ValueError: the cause" in detail["detail"]
