"""A board whose own store is away for a while: its tools are not to blame."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs
from tests.graphs.made import Bench, at_the_bench, call
from tests.graphs.test_failover import Healing, healed

from pegboard import ToolContext
from pegboard.core.event import CallStarted
from pegboard.core.graph import Fallback, Graph, Node
from pegboard.core.ports.call_stores import Outcome
from pegboard.core.ports.durability import RunStart, StepEvents, StepRef
from pegboard.core.principal import LOCAL
from pegboard.core.run import RunResult
from pegboard.core.stores.memory_results import MemoryOutcomes
from pegboard.errors import AuditUnavailable, StoreUnavailable, Unavailable
from pegboard.execution import CallDefaults
from pegboard.graphs import KINDS
from pegboard.graphs.engine.attempt import RunAttempt
from pegboard.graphs.engine.steps import EphemeralSteps

LOOK = (Fallback(tool="look"),)
FOR_EVER = 10_000
START = RunStart(run_id="r", graph={}, params={}, principal=LOCAL, created_at=0)


class Journal:
    """Cannot store so many starts of writes, and then can."""

    def __init__(self, failures: int, error: StoreUnavailable | None = None) -> None:
        self.failures = failures
        self.error = error or StoreUnavailable("away", nothing_done=True)

    def wants(self, *, effect: str, decision: str, handler: str) -> bool:
        return effect != "read" or decision == "ask"

    async def record_start(self, _: CallStarted) -> None:
        if self.failures:
            self.failures -= 1
            raise self.error


def played(
    node: Node,
    failures: int = FOR_EVER,
    *others: Node,
    error: StoreUnavailable | None = None,
    heal: Healing | None = None,
    **kit: Any,
) -> tuple[RunResult, float, dict[str, int]]:
    """How a run of it ends, after how long, and which tools were started how often."""

    async def work(bench: Bench) -> tuple[RunResult, float, dict[str, int]]:
        journal = Journal(failures, error)
        bench.registry.apply(replace(bench.registry.environment, journal=journal))
        began = bench.clock.time()
        runner = healed(bench, heal) if heal is not None else bench.runner
        result = await runner.run(Graph(nodes=(node, *others)))
        starts = {name: bench.world.starts_of(name) for name in ("pay", "put", "look", "find")}
        return result, bench.clock.time() - began, {k: n for k, n in starts.items() if n}

    return at_the_bench(work, **kit)


def failure(result: RunResult) -> tuple[str, str]:
    return result.nodes[0].state, (result.nodes[0].error or {}).get("code", "")


class Refusing(MemoryOutcomes):
    """What is given back stays taken while the store is away."""

    def __init__(self) -> None:
        super().__init__()
        self._refusals = 5

    async def release(self, claim: Outcome) -> None:
        if self._refusals:
            self._refusals -= 1
            raise StoreUnavailable("away")
        await super().release(claim)


@pytest.mark.parametrize("tool", ["pay", "put"], ids=["once", "repeatable"])
def test_a_key_that_could_not_be_given_back_stands_in_nobodys_way(tool: str) -> None:
    result, _, starts = played(call("a", tool), 2, outcomes=Refusing())

    assert (result.state, starts) == ("completed", {tool: 1})


class HeldElsewhere(MemoryOutcomes):
    """Another server, which had the run before, holds each key for a while."""

    def __init__(self, refusals: int) -> None:
        super().__init__()
        self._refusals = refusals
        self.keys: list[str] = []

    async def claim(self, outcome: Outcome) -> Outcome | None:
        self.keys.append(outcome.key)
        if self._refusals:
            self._refusals -= 1
            return structs.replace(outcome, holder="another", held_until=float("inf"))
        return await super().claim(outcome)


@pytest.mark.parametrize("tool", ["pay", "put"], ids=["once", "repeatable"])
def test_a_step_waits_for_a_key_that_another_server_holds(tool: str) -> None:
    outcomes, healing = HeldElsewhere(3), Healing()
    result, took, starts = played(
        call("a", tool, fallbacks=LOOK), 0, outcomes=outcomes, heal=healing
    )

    assert (result.state, starts, healing.asked) == ("completed", {tool: 1}, [])
    assert took == pytest.approx(3 * 1.0 + 0.1)
    assert len(set(outcomes.keys)) == 1


@pytest.mark.parametrize("tool", ["pay", "put"], ids=["once", "repeatable"])
@pytest.mark.parametrize(
    "error",
    [StoreUnavailable("away"), AuditUnavailable("away", nothing_done=True)],
    ids=["history", "trail"],
)
def test_a_step_waits_for_the_store_and_leaves_its_tool_for_no_other(
    tool: str, error: StoreUnavailable
) -> None:
    healing = Healing()
    result, took, starts = played(call("a", tool, fallbacks=LOOK), 4, error=error, heal=healing)

    assert (result.state, result.nodes[0].tool, result.nodes[0].parts) == ("completed", tool, ())
    assert starts == {tool: 1}
    assert took == pytest.approx(1 + 2 + 4 + 5 + 0.1)
    assert healing.asked == []


def test_a_tool_that_could_not_be_begun_is_there_and_nothing_stands_in_for_it() -> None:
    healing = Healing()
    result, took, starts = played(call("a", "pay"), heal=healing)

    assert failure(result) == ("failed", "store_unavailable")
    assert 290 < took < 300  # as long as a call may take
    assert (starts, healing.asked) == ({}, [])


def test_the_next_of_a_chain_is_tried_once_the_wait_is_over() -> None:
    kit: dict[str, Any] = {"settings": CallDefaults(call_timeout=20)}
    result, took, starts = played(call("a", "pay", fallbacks=LOOK), **kit)

    assert (result.state, result.nodes[0].tool, starts) == ("completed", "look", {"look": 1})
    assert 10 < took < 20


def test_a_step_waits_no_longer_than_its_own_time() -> None:
    result, took, _ = played(call("a", "pay", timeout=4.0))

    assert failure(result) == ("failed", "store_unavailable")
    assert took == pytest.approx(3.0)


def test_where_calls_have_no_limit_a_step_waits_as_long_as_it_takes() -> None:
    result, took, starts = played(call("a", "pay"), 200, settings=CallDefaults(call_timeout=0))

    assert (result.state, starts) == ("completed", {"pay": 1})
    assert took > 900


def test_what_waits_is_not_begun_once_its_graph_has_stopped() -> None:
    result, took, starts = played(call("a", "pay"), 1, call("b", "read", input={"fail": "no"}))

    assert (result.state, starts) == ("failed", {})
    assert took == pytest.approx(1.0)


class Deaf(EphemeralSteps):
    """Steps whose store is away when it is asked what has happened; keeps what is recorded."""

    def __init__(self) -> None:
        super().__init__(START)
        self.recorded: list[Any] = []
        self.asked = 0

    async def next(self, tasks: "Mapping[str, asyncio.Future[Any]]") -> StepEvents:
        self.asked += 1
        if self.asked == 2:  # the first time is before anything is begun
            await asyncio.sleep(0.5)
            raise Unavailable("away")
        return await super().next(tasks)

    async def do(self, slot: StepRef, work: Callable[[], Awaitable[Any]], **more: Any) -> Any:
        value = await super().do(slot, work, **more)
        self.recorded.append(value["state"])
        return value


def test_what_waits_when_its_play_is_broken_off_is_done_and_not_recorded_as_failed() -> None:
    async def work(bench: Bench) -> tuple[list[Any], int]:
        journal = Journal(1)
        bench.registry.apply(replace(bench.registry.environment, journal=journal))
        steps, graph = Deaf(), Graph(nodes=(call("a", "pay"),))
        attempt = RunAttempt(graph, START, board=bench.registry, kinds=KINDS, ctx=ToolContext())
        with pytest.raises(Unavailable, match="away"):
            await attempt.execute(steps)
        return steps.recorded, bench.world.starts_of("pay")

    assert at_the_bench(work) == (["completed"], 1)


def test_what_only_the_operator_can_mend_is_not_waited_for() -> None:
    error = AuditUnavailable("full", permanent=True, nothing_done=True)
    result, took, _ = played(call("a", "pay"), error=error)

    assert failure(result) == ("failed", "audit_unavailable")
    assert took == 0


def test_a_tool_that_reads_such_a_store_itself_has_begun() -> None:
    async def work(bench: Bench) -> tuple[str, int]:
        bench.world.failing["read"] = [StoreUnavailable("away")]
        result = await bench.runner.run(Graph(nodes=(call("a", "read"),)))
        return failure(result)[1], bench.world.starts_of("read")

    assert at_the_bench(work) == ("store_unavailable", 1)
