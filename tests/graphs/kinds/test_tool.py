"""Nodes that call tools: fallbacks, retries, pins, whole outputs, approvals."""

import pytest
from tests.graphs.made import OBJECT, Bench, at_the_bench, call, states

from pegboard.access import Policy
from pegboard.core.graph import Fallback, Graph, NodeState
from pegboard.core.run import RunResult
from pegboard.core.stores.memory_results import MemoryResults
from pegboard.core.tool import Effect, Retry
from pegboard.errors import ToolTimeout, Unavailable
from pegboard.execution import CallEnvironment
from pegboard.execution.environment import CallDefaults
from pegboard.graphs.kinds.tool import ToolNode


def test_fallbacks_are_tried_in_order_until_one_answers() -> None:
    async def work(bench: Bench) -> RunResult:
        return await bench.run(
            call(
                "a",
                "read",
                input={"fail": "no", "x": "$.params.x"},
                fallbacks=(
                    Fallback(tool="look"),
                    Fallback(tool="find", input={"y": "$.params.x"}),
                    Fallback(tool="pay", input={}),
                ),
            ),
            given={"x": 1},
        )

    node = at_the_bench(work).nodes[0]

    assert (node.tool, node.output, node.attempts) == ("find", {"y": 1}, 3)
    assert [(part.id, part.tool, part.state) for part in node.parts] == [
        ("a~1", "read", "failed"),
        ("a~2", "look", "failed"),
        ("a~3", "find", "completed"),
    ]


def test_a_node_with_fallbacks_lasts_from_the_first_try_to_the_last() -> None:
    async def work(bench: Bench) -> RunResult:
        fallback = Fallback(tool="look", input={"seconds": 1})
        return await bench.run(call("a", input={"fail": "no", "seconds": 3}, fallbacks=(fallback,)))

    node = at_the_bench(work).nodes[0]

    assert [part.duration_ms for part in node.parts] == [3_000, 1_000]
    assert node.started_at == node.parts[0].started_at
    assert node.duration_ms == pytest.approx(4_000, abs=1)


def test_each_fallback_has_a_key_of_its_own() -> None:
    async def work(bench: Bench) -> list[str]:
        fallbacks = (Fallback(tool="look"), Fallback(tool="find"))
        await bench.run(
            call("a", "read", input={"fail": "no"}, fallbacks=fallbacks, on_failure="skip")
        )
        return [key.partition(":")[2] for key in bench.world.keys]

    assert at_the_bench(work) == ["a:0", "a:0+1", "a:0+2"]


def test_a_node_fails_with_the_last_error_when_no_fallback_answers() -> None:
    async def work(bench: Bench) -> RunResult:
        fallbacks = (Fallback(tool="look", input={"fail": "neither"}),)
        return await bench.run(call("a", input={"fail": "no"}, fallbacks=fallbacks))

    result = at_the_bench(work)

    assert result.error is not None
    assert result.error["message"] == "neither"


def test_a_write_that_may_have_happened_is_not_done_by_another_tool() -> None:
    async def work(bench: Bench) -> tuple[RunResult, int]:
        bench.world.failing["pay"] = [ToolTimeout("late")]
        result = await bench.run(call("a", "pay", fallbacks=(Fallback(tool="write"),)))
        return result, bench.world.starts_of("write")

    result, written = at_the_bench(work)

    assert (states(result), written) == ({"a": "failed"}, 0)


@pytest.mark.parametrize("tool", ["read", "put"])
def test_what_may_be_repeated_is_done_by_another_tool_after_a_timeout(tool: str) -> None:
    async def work(bench: Bench) -> RunResult:
        bench.world.failing[tool] = [ToolTimeout("late")]
        return await bench.run(call("a", tool, fallbacks=(Fallback(tool="find"),)))

    assert at_the_bench(work).nodes[0].tool == "find"


def test_a_node_tries_again_as_its_own_policy_says_under_one_key() -> None:
    async def work(bench: Bench) -> tuple[RunResult, list[str]]:
        bench.world.failing["read"] = [Unavailable("down"), Unavailable("down")]
        retry = Retry(max_retries=2, backoff=0)
        return await bench.run(call("a", retry=retry)), bench.world.keys

    result, keys = at_the_bench(work)

    assert result.nodes[0].attempts == 3
    assert len(keys) == 3
    assert len(set(keys)) == 1


def test_a_node_does_not_try_again_what_cannot_be_repeated() -> None:
    async def work(bench: Bench) -> tuple[RunResult, int]:
        bench.world.failing["pay"] = [Unavailable("down")]
        result = await bench.run(call("a", "pay", retry=Retry(max_retries=2, backoff=0)))
        return result, bench.world.starts_of("pay")

    result, paid = at_the_bench(work)

    assert (states(result), paid) == ({"a": "failed"}, 1)


def test_a_node_does_not_try_again_past_its_time() -> None:
    async def work(bench: Bench) -> RunResult:
        bench.world.failing["read"] = [Unavailable("down", retry_after=5)] * 3
        return await bench.run(call("a", retry=Retry(max_retries=2), timeout=3))

    result = at_the_bench(work)

    assert result.nodes[0].attempts == 1
    assert result.duration_ms == pytest.approx(100)


def test_a_tool_may_be_named_with_a_pin() -> None:
    async def work(bench: Bench) -> RunResult:
        bench.add("versioned", version="1.2.3")
        return await bench.run(call("a", "versioned@1.2"))

    assert at_the_bench(work).nodes[0].tool == "versioned"


def test_a_tool_that_went_away_fails_its_node_and_names_the_nearest() -> None:
    async def work(bench: Bench) -> RunResult:
        bench.add("vanishing", effect="write")

        async def gone() -> RunResult:
            return await bench.run(call("first", "read"), call("a", "vanishing", "first"))

        import asyncio

        running = asyncio.create_task(gone())
        await asyncio.sleep(0.05)
        bench.registry.remove("vanishing")
        return await running

    result = at_the_bench(work)

    assert result.error is not None
    assert result.error["code"] == "tool_not_found"


def test_other_nodes_get_the_whole_of_a_large_output() -> None:
    settings = CallDefaults(max_result_bytes=1_000)

    async def work(bench: Bench) -> RunResult:
        return await bench.run(call("a", input={"text": "x" * 5_000}))

    node = at_the_bench(work, settings=settings).nodes[0]

    assert node.output == {"text": "x" * 5_000}


def test_an_output_of_which_only_a_page_is_left_fails_its_node() -> None:
    kit = {"settings": CallDefaults(max_result_bytes=1_000), "results": MemoryResults(max_bytes=10)}

    async def work(bench: Bench) -> RunResult:
        return await bench.run(call("a", input={"text": "x" * 5_000}))

    result = at_the_bench(work, **kit)

    assert result.error is not None
    assert "was not kept" in result.error["message"]


def test_a_tool_that_gives_nothing_gives_null() -> None:
    from pegboard import tool

    @tool(effect="read")
    async def nothing() -> None:
        """Give nothing."""

    async def work(bench: Bench) -> RunResult:
        bench.registry.add(nothing)
        return await bench.run(call("a", "nothing"))

    assert at_the_bench(work).output == {"a": None}


ASKS = Policy(ask=("pay",))


def test_a_call_that_needs_an_approval_waits_for_it_and_then_runs() -> None:
    async def work(bench: Bench) -> None:
        waiting = await bench.runner.run(graph())
        asked = waiting.pending[0]

        assert waiting.state is NodeState.WAITING
        assert (asked.kind, asked.step, asked.choices) == ("approval", "a", ("approve", "deny"))
        assert states(waiting) == {"a": "waiting", "b": "completed"}

        bench.registry.apply(CallEnvironment(now=bench.clock.time, monotonic=bench.clock.monotonic))
        await bench.runner.answer(waiting.run_id, asked.id, {"answer": "approve"})
        done = await bench.runner.result(waiting.run_id)

        assert done.state is NodeState.COMPLETED
        assert bench.world.starts_of("pay") == 1

    at_the_bench(work, policy=ASKS)


def test_a_call_that_is_still_asked_about_after_an_approval_waits_again() -> None:
    async def work(bench: Bench) -> None:
        waiting = await bench.runner.run(graph())
        await bench.runner.answer(waiting.run_id, waiting.pending[0].id, "approve")
        again = await bench.runner.result(waiting.run_id)

        assert again.state is NodeState.WAITING
        assert again.pending[0].id != waiting.pending[0].id
        assert bench.world.starts_of("pay") == 0

    at_the_bench(work, policy=ASKS)


def test_a_call_that_a_person_refused_fails_and_never_runs() -> None:
    async def work(bench: Bench) -> None:
        waiting = await bench.runner.run(graph())
        await bench.runner.answer(waiting.run_id, waiting.pending[0].id, {"answer": "deny"})
        done = await bench.runner.result(waiting.run_id)

        assert states(done) == {"a": "failed", "b": "completed"}
        assert done.error is not None
        assert done.error["code"] == "access_denied"
        assert bench.world.starts_of("pay") == 0

    at_the_bench(work, policy=ASKS)


def test_a_call_that_waited_for_an_approval_when_the_run_failed_was_never_made() -> None:
    async def work(bench: Bench) -> RunResult:
        return await bench.run(call("a", "pay"), call("bad", input={"fail": "no", "seconds": 1}))

    result = at_the_bench(work, policy=ASKS)

    assert states(result) == {"a": "cancelled", "bad": "failed"}


def test_the_kind_says_what_is_missing() -> None:
    from pegboard.core.graph import Node

    assert [fault[1] for fault in ToolNode().faults(Node(id="a"))] == ["tool_missing"]
    wrong = Node(id="a", tool="x", config={"account": "", "acount": "home"})
    assert [fault[1] for fault in ToolNode().faults(wrong)] == ["config_unknown", "account_illegal"]
    assert ToolNode().output_schema(Node(id="a"), lambda _: OBJECT) is None


def graph():
    from pegboard.core.graph import Graph

    return Graph(nodes=(call("a", "pay", input={"n": 1}), call("b", "read")))


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("its source 'crm' failed: down", "'find' is unavailable: its source 'crm' failed"),
        ("", "Tool 'find' not found."),
    ],
    ids=["its source is away", "nobody knows"],
)
def test_a_tool_that_went_since_the_start_is_told_with_the_reason(reason: str, told: str) -> None:
    async def work(bench: Bench) -> RunResult:
        first, second = call("a", "read"), call("b", "find", "a")
        run_id = await bench.runner.start(Graph(nodes=(first, second)))
        bench.registry.remove("find")
        return await bench.runner.result(run_id)

    result = at_the_bench(work, why_missing=lambda name: reason)

    assert result.error is not None
    assert result.error["message"].startswith(told)


def test_an_id_stays_with_its_version_while_the_name_goes_on() -> None:
    async def work(bench: Bench) -> RunResult:
        for version, word in (("1.0.0", "loud"), ("2.0.0", "volume")):
            schema = {"type": "object", "properties": {word: {}}, "additionalProperties": False}
            bench.add("shout", version=version, input_schema=schema)
            bench.registry.versions.register(bench.registry.get("shout"))
        bench.world.failing["shout"] = [Unavailable("busy", nothing_done=True)]
        return await bench.run(
            call("old", "shout_v1", input={"loud": 1}, retry=Retry(max_retries=1)),
            call("new", "shout", "old", input={"volume": 2}),
            call("pinned", "shout@1", "new", input={"loud": 3}),
        )

    done = at_the_bench(work)

    assert [(node.tool, node.output) for node in done.nodes] == [
        ("shout", {"loud": 1}),
        ("shout", {"volume": 2}),
        ("shout", {"loud": 3}),
    ]


def test_what_an_older_version_left_open_is_judged_by_that_version() -> None:
    async def work(bench: Bench) -> RunResult:
        for version, effect in (("1.0.0", Effect.WRITE), ("2.0.0", Effect.READ)):
            bench.add("send", version=version, effect=effect, timeout=1.0)
            bench.registry.versions.register(bench.registry.get("send"))
        fallbacks = (Fallback(tool="read"),)
        return await bench.run(call("a", "send_v1", input={"seconds": 9}, fallbacks=fallbacks))

    node = at_the_bench(work).nodes[0]

    assert (node.tool, node.state, node.parts) == ("send", "failed", ())
