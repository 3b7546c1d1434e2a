"""The runner as a state machine: any graph, any moment of pause, cancel and crash."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.graphs.crashing import _DEAD, MortalLoop, driven, slow_journal
from tests.graphs.made import Bench, World

from pegboard.core.graph import Edge, Fallback, Graph, Node, NodeState, Wait
from pegboard.core.run import NodeRun, RunResult
from pegboard.execution.steps.deadline import DeadlineTimer
from pegboard.graphs import KINDS
from pegboard.graphs.checks.structure import structure_faults
from pegboard.testing import FakeClock

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
ENDS = {NodeState.COMPLETED, NodeState.FAILED}
OUTCOMES: st.SearchStrategy[Any] = st.sampled_from(
    ["completed", "completed", "completed", "failed", "any"]
)
CONDITIONS = st.sampled_from(["", "", "", "params.yes", "!params.yes"])


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    count = draw(st.integers(1, 7))
    return Graph(
        nodes=tuple(_node(draw, number) for number in range(count)),
        concurrency=draw(st.integers(1, 4)),
    )


def _node(draw: st.DrawFn, number: int) -> Node:
    name = f"n{number}"
    before = draw(st.lists(st.integers(0, number - 1), unique=True, max_size=3)) if number else []
    rest: dict[str, Any] = {
        "edges": tuple(
            Edge(node=f"n{other}", outcome=draw(OUTCOMES), when=draw(CONDITIONS))
            for other in sorted(before)
        ),
        "join": draw(st.sampled_from(["all", "any"])),
        "when": draw(CONDITIONS),
    }
    if draw(st.integers(0, 5)) == 0:
        return Node(id=name, kind="wait", wait=Wait(seconds=0.25), **rest)
    fails = draw(st.integers(0, 3)) == 0
    mended = fails and draw(st.booleans())
    given = {"step": name, "seconds": draw(st.sampled_from([0.05, 0.1, 0.3]))}
    return Node(
        id=name,
        tool=draw(st.sampled_from(["read", "pay", "put"])),
        input=given | ({"fail": "no"} if fails else {}),
        fallbacks=(Fallback(tool="find", input=given),) if mended else (),
        on_failure=draw(st.sampled_from(["fail", "skip", "continue"])),
        **rest,
    )


class Runs(RuleBasedStateMachine):
    """One run of one graph, through pauses, crashes and a cancellation."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.world = World()
        self.journal = slow_journal()
        self.was_cancelled = False
        self.recorded: set[str] = set()
        self.loop = self._new_loop()

    @initialize(graph=graphs().filter(lambda graph: not any(structure_faults(graph, KINDS))))
    def begin(self, graph: Graph) -> None:
        self.graph = graph
        self.bench = Bench(self.clock, self.world, journal=self.journal)
        self.do(self.bench.runner.start(graph, {"yes": True}, run_id="r"))

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    @rule(seconds=st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.5]))
    def time_passes(self, seconds: float) -> None:
        self.do(asyncio.sleep(seconds))

    @rule(wish=st.sampled_from(["pause", "resume", "pause", "resume", "cancel"]))
    def somebody_wants_something(self, wish: str) -> None:
        self.was_cancelled = self.was_cancelled or wish == "cancel"
        self.do(getattr(self.bench.runner, wish)("r"))

    @rule(steps=st.integers(0, 40))
    def the_process_dies(self, steps: int) -> None:
        self.loop.dies_after(steps)
        self.loop.call_later(1, self.loop.stop)
        self.loop.run_forever()
        self.loop.is_dead = True
        _DEAD.extend(asyncio.all_tasks(self.loop))
        self.loop.close()
        self.world.running = 0
        self.journal = self.journal.copy()
        self.recorded = self._recorded()
        self.calls_before = len(self.world.keys)
        self.loop = self._new_loop()
        self.bench = Bench(self.clock, self.world, journal=self.journal)
        self.do(self.bench.runner.recover())

    @invariant()
    def places_are_held(self) -> None:
        if hasattr(self, "graph"):
            assert self.world.most <= self.graph.concurrency

    @invariant()
    def what_is_recorded_is_not_done_again(self) -> None:
        if self.recorded:
            again = {key.split(":")[1] for key in self.world.keys[self.calls_before :]}
            mended = {node.id for node in self.graph if node.fallbacks}
            assert again.isdisjoint(self.recorded - mended)

    def teardown(self) -> None:
        if hasattr(self, "graph"):
            result = self.do(driven(self.bench, self.graph))
            self.do(self.bench.durability.close())
            self._check(result)
        if not self.loop.is_closed():
            self.loop.close()

    def _check(self, result: RunResult) -> None:
        runs = {run.id: run for run in result.nodes}
        assert all(run.state.is_final for run in runs.values())
        for node in self.graph:
            run = runs[node.id]
            assert run.output is None or run.state is NodeState.COMPLETED
            if run.state in ENDS:
                assert _may_run(node, runs, self.graph), f"{node.id} ran, and should not have"
                assert _began_after(run, [runs[name] for name in node.depends_on])
            elif run.state is NodeState.SKIPPED:
                assert not _may_run(node, runs, self.graph), f"{node.id} was skipped wrongly"
        paid = Counter(a.get("step") for tool, a, _ in self.world.ended if tool == "pay")
        assert all(count == 1 for count in paid.values())
        ended_early = any(
            run.state in {NodeState.CANCELLED, NodeState.UNKNOWN} for run in runs.values()
        )
        assert not ended_early or self.was_cancelled or result.state is NodeState.FAILED
        assert (result.state is NodeState.CANCELLED) <= self.was_cancelled

    def _recorded(self) -> set[str]:
        kept = self.journal.runs.get("r")
        steps = {} if kept is None else kept.steps
        return {path for path, step in steps.items() if step.value is not None}

    def _new_loop(self) -> MortalLoop:
        loop = MortalLoop(self.clock, dies_at=0)
        loop._pegboard_deadline_timer = DeadlineTimer(loop, monotonic=self.clock.monotonic)  # type: ignore[attr-defined]  # as the kernel keeps it
        return loop


def _may_run(node: Node, runs: dict[str, NodeRun], graph: Graph) -> bool:
    """What the words of the model say, in the plainest way."""
    if "!" in node.when:
        return False
    answers: list[bool] = []
    for edge in node.edges:
        before, definition = runs[edge.node], graph.node(edge.node)
        assert definition is not None
        ended = before.state in ENDS
        completed = before.state is NodeState.COMPLETED or definition.on_failure == "continue"
        failed = before.state is NodeState.FAILED
        holds = {"completed": ended and completed, "failed": failed, "any": ended}[edge.outcome]
        answers.append(holds and "!" not in edge.when)
    if not answers:
        return True
    return all(answers) if node.join == "all" else any(answers)


def _began_after(run: NodeRun, before: list[NodeRun]) -> bool:
    ends = [other.started_at + other.duration_ms / 1000 for other in before if other.started_at]
    return not run.started_at or all(run.started_at >= end - 0.001 for end in ends)


TestRuns = Runs.TestCase
TestRuns.settings = settings(max_examples=80, stateful_step_count=15)
