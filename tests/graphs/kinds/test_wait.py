"""Nodes that wait: for a time, a message, a person."""

import asyncio
from typing import Any

import pytest
from tests.graphs.made import Bench, at_the_bench, call, states

from pegboard.core.graph import Edge, Graph, Node, NodeState, Wait
from pegboard.core.run import RunResult
from pegboard.errors import InvalidRequest
from pegboard.graphs.kinds.wait import WaitNode


def wait(id: str = "w", *, timeout: float | None = None, **fields: object) -> Node:
    return Node(id=id, kind="wait", wait=Wait(**fields), timeout=timeout)  # type: ignore[arg-type]  # fields of a wait


async def started(bench: Bench, *nodes: Node, **more: object) -> RunResult:
    return await bench.runner.run(Graph(nodes=nodes, **more))  # type: ignore[arg-type]  # fields of a graph


def test_a_node_waits_for_a_time_without_a_place_among_what_runs() -> None:
    async def work(bench: Bench) -> RunResult:
        return await bench.run(wait(seconds="$.params.s"), call("a"), concurrency=1, given={"s": 5})

    result = at_the_bench(work)

    assert result.duration_ms == pytest.approx(5000)
    assert result.output == {"w": None, "a": {}}


def test_a_time_that_is_no_number_fails_the_node() -> None:
    result = at_the_bench(lambda bench: bench.run(wait(seconds="$.params.s"), given={"s": "soon"}))

    assert result.error is not None
    assert result.error["message"] == "wait.seconds is not a number."


@pytest.mark.parametrize("seconds", ["soon", "5", True, [5]])
def test_a_time_that_can_never_be_a_number_is_a_fault(seconds: object) -> None:
    faults = list(WaitNode().faults(wait(seconds=seconds)))

    assert [fault[:2] for fault in faults] == [("wait.seconds", "wait_no_number")]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"event": "paid:{{ params.order }}"}, "wait.event"),
        ({"question": "Pay?", "assignee": "{{ params.who }}"}, "wait.assignee"),
    ],
)
def test_what_is_known_by_its_name_is_never_filled(fields: dict[str, Any], place: str) -> None:
    faults = list(WaitNode().faults(wait(**fields)))

    assert [fault[:2] for fault in faults] == [(place, "text_not_filled")]


@pytest.mark.parametrize("seconds", [0, 1.5, "$.params.s"])
def test_a_number_and_a_path_are_times(seconds: object) -> None:
    assert list(WaitNode().faults(wait(seconds=seconds))) == []


def test_a_person_is_asked_a_text_that_is_filled() -> None:
    async def work(bench: Bench) -> RunResult:
        asked = "Pay {{ params.sum }} of {{ steps.a.output }}?"
        node = Node(id="w", kind="wait", wait=Wait(question=asked), edges=(Edge(node="a"),))
        return await bench.runner.run(
            Graph(nodes=(call("a", input={"x": "{{ params.sum }}-b"}), node)), {"sum": 5}
        )

    (pending,) = at_the_bench(work).pending
    assert pending.message == 'Pay 5 of {"x":"5-b"}?'


def test_a_message_ends_a_wait_and_is_its_output() -> None:
    async def work(bench: Bench) -> RunResult:
        waiting = await started(
            bench, wait(event="paid"), call("a", "read", "w", input={"n": "$.steps.w.output.n"})
        )
        assert waiting.pending[0].event == "paid"
        await bench.runner.send(waiting.run_id, "shipped", {"n": 1})
        await bench.runner.send(waiting.run_id, "paid", {"n": 2})
        return await bench.runner.result(waiting.run_id)

    assert at_the_bench(work).output == {"a": {"n": 2}}


def test_a_message_that_came_early_is_kept() -> None:
    async def work(bench: Bench) -> RunResult:
        graph = Graph(
            nodes=(
                call("a"),
                Node(id="w", kind="wait", wait=Wait(event="e"), edges=(Edge(node="a"),)),
            )
        )
        run_id = await bench.runner.start(graph)
        await bench.runner.send(run_id, "e", 7)
        return await bench.runner.result(run_id)

    assert at_the_bench(work).output == {"w": 7}


def test_a_message_that_is_sent_twice_arrives_once() -> None:
    async def work(bench: Bench) -> RunResult:
        waiting = await started(bench, wait("one", event="e"), wait("two", event="e"))
        await bench.runner.send(waiting.run_id, "e", 1, id="m")
        await bench.runner.send(waiting.run_id, "e", 1, id="m")
        return await bench.runner.result(waiting.run_id)

    assert states(at_the_bench(work)) == {"one": "completed", "two": "waiting"}


def test_two_that_wait_for_one_event_get_a_message_each_in_order() -> None:
    async def work(bench: Bench) -> RunResult:
        waiting = await started(bench, wait("one", event="e"), wait("two", event="e"))
        await bench.runner.send(waiting.run_id, "e", 1)
        await bench.runner.send(waiting.run_id, "e", 2)
        return await bench.runner.result(waiting.run_id)

    assert at_the_bench(work).output == {"one": 1, "two": 2}


def test_a_person_is_asked_and_the_answer_must_fit() -> None:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}

    async def work(bench: Bench) -> RunResult:
        waiting = await started(bench, wait(question="Go?", schema=schema, assignee="ada"))
        asked = waiting.pending[0]
        assert (asked.kind, asked.message, asked.assignee, asked.schema) == (
            "person",
            "Go?",
            "ada",
            schema,
        )
        with pytest.raises(InvalidRequest, match="ok"):
            await bench.runner.answer(waiting.run_id, asked.id, {"ok": "perhaps"})
        await bench.runner.answer(waiting.run_id, asked.id, {"ok": True})
        return await bench.runner.result(waiting.run_id)

    assert at_the_bench(work).output == {"w": {"ok": True}}


def test_what_is_not_asked_cannot_be_answered() -> None:
    async def work(bench: Bench) -> None:
        waiting = await started(bench, wait(question="Go?"))
        with pytest.raises(InvalidRequest, match="does not ask"):
            await bench.runner.answer(waiting.run_id, "other", True)

    at_the_bench(work)


@pytest.mark.parametrize("limits", [{"wait": 3.0}, {"node": 3.0}], ids=["its own", "the node's"])
def test_a_wait_that_takes_too_long_fails(limits: dict[str, float]) -> None:
    async def work(bench: Bench) -> RunResult:
        asking = Wait(question="Go?", timeout=limits.get("wait"))
        node = Node(id="w", kind="wait", timeout=limits.get("node"), wait=asking)
        run_id = (await started(bench, node)).run_id
        await asyncio.sleep(4)
        return await bench.runner.result(run_id)

    result = at_the_bench(work)

    assert states(result) == {"w": "failed"}
    assert result.error is not None
    assert result.error["code"] == "timeout"
    assert result.duration_ms == pytest.approx(3000, abs=50)


def test_an_event_or_a_time_whichever_comes_first() -> None:
    async def work(bench: Bench) -> RunResult:
        return await bench.runner.result((await started(bench, wait(event="e", seconds=2))).run_id)

    async def waited(bench: Bench) -> RunResult:
        run_id = (await started(bench, wait(event="e", seconds=2))).run_id
        await asyncio.sleep(3)
        return await bench.runner.result(run_id)

    assert states(at_the_bench(work)) == {"w": "waiting"}
    assert at_the_bench(waited).output == {"w": None}


def test_a_failure_ends_a_wait() -> None:
    result = at_the_bench(
        lambda bench: bench.run(wait(seconds=1000), call("bad", input={"fail": "no"}))
    )

    assert states(result) == {"w": "cancelled", "bad": "failed"}
    assert result.duration_ms == pytest.approx(100)


def test_a_run_that_nobody_keeps_ends_when_it_comes_to_wait_for_somebody() -> None:
    result = at_the_bench(lambda bench: bench.run(wait(question="Go?"), call("a")))

    assert result.state is NodeState.WAITING
    assert states(result) == {"w": "waiting", "a": "completed"}


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        (None, ["wait_for_nothing"]),
        (Wait(), ["wait_for_nothing"]),
        (Wait(event="e", question="q"), ["wait_for_two"]),
        (Wait(seconds=-1), ["wait_negative"]),
        (Wait(event="e", timeout=0), ["timeout_not_positive"]),
        (Wait(seconds=0), []),
    ],
)
def test_the_kind_says_what_is_wrong(given: Wait | None, codes: list[str]) -> None:
    found = [code for _, code, _ in WaitNode().faults(Node(id="w", kind="wait", wait=given))]

    assert found == codes
