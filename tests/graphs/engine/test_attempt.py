"""One play of a run: what it ends with, and how it says that it could not be kept."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from tests.graphs.made import Bench, at_the_bench, call, states

from pegboard import ToolContext
from pegboard.access import Policy
from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.ports.durability import RunStart, StepEvents
from pegboard.core.principal import LOCAL
from pegboard.core.run import RunResult
from pegboard.errors import Unavailable
from pegboard.graphs import KINDS
from pegboard.graphs.engine.attempt import RunAttempt
from pegboard.graphs.engine.steps import EphemeralSteps, StoreErrorSteps
from pegboard.graphs.engine.stop_signal import StoreFailed

START = RunStart(run_id="r", graph={}, params={}, principal=LOCAL, created_at=0)


class Gone(EphemeralSteps):
    """Steps of a store that is gone."""

    async def next(self, tasks: "Mapping[str, asyncio.Future[Any]]") -> StepEvents:
        raise Unavailable("gone")

    async def suspend(self, seen: RunResult) -> bool:
        raise Unavailable("gone")


async def test_what_the_store_says_is_told_apart_from_what_nodes_say() -> None:
    steps = StoreErrorSteps(Gone(START))

    assert steps.start is START
    with pytest.raises(StoreFailed, match="gone"):
        await steps.next({})
    with pytest.raises(StoreFailed, match="gone"):
        await steps.suspend(RunResult(run_id="r", state=NodeState.WAITING))


def test_a_play_whose_store_is_gone_ends_with_its_error() -> None:
    async def work(bench: Bench) -> None:
        attempt = RunAttempt(
            Graph(nodes=(call("a"),)),
            START,
            board=bench.registry,
            kinds=KINDS,
            ctx=ToolContext(),
        )
        with pytest.raises(Unavailable, match="gone"):
            await attempt.execute(Gone(START))

    at_the_bench(work)


def test_the_deadline_of_a_caller_holds_for_a_run_that_is_not_kept() -> None:
    async def work(bench: Bench) -> RunResult:
        ctx = ToolContext(deadline=bench.clock.monotonic() + 1)
        return await bench.run(call("a", input={"seconds": 5}), ctx=ctx, timeout=100)

    result = at_the_bench(work)

    assert result.error is not None
    assert result.error["code"] == "timeout"
    assert result.duration_ms == pytest.approx(1000, abs=50)


def test_a_run_that_was_in_time_but_for_a_node_that_was_not_has_completed() -> None:
    result = at_the_bench(
        lambda bench: bench.run(
            call("a", input={"seconds": 5}, timeout=1, on_failure="skip"), timeout=100
        )
    )

    assert (result.state, states(result)) == (NodeState.COMPLETED, {"a": "failed"})


def test_a_run_that_ended_as_its_time_was_up_has_completed_when_nothing_was_late() -> None:
    async def work(bench: Bench) -> RunResult:
        return await bench.run(call("a"), Node(id="v", kind="value"), timeout=0.1000001)

    assert at_the_bench(work).state in {NodeState.COMPLETED, NodeState.FAILED}


def test_nobody_waits_for_an_answer_beyond_the_time_of_a_run() -> None:
    async def work(bench: Bench) -> RunResult:
        run_id = await bench.runner.start(Graph(nodes=(call("a", "pay"),), timeout=5))
        await asyncio.sleep(6)
        return await bench.runner.result(run_id)

    result = at_the_bench(work, policy=Policy(ask=("pay",)))

    assert result.state is NodeState.FAILED
    assert result.error is not None
    assert "No answer for" in result.error["message"]
