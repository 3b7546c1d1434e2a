"""Whoever pauses, resumes or cancels a run is told how it is then, also when it was so before."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Policy, SchemaTool, ToolContext, ToolRegistry, ToolSpec
from pegboard.core.event import BoardChanged
from pegboard.core.graph import Edge, Graph, Node, NodeState, Wait
from pegboard.core.ports.durability import CONTROL
from pegboard.core.principal import LOCAL
from pegboard.core.tool import Effect
from pegboard.durability import StoredDurability
from pegboard.errors import Unavailable
from pegboard.features.plans import Plans
from pegboard.features.runs import RunFeed, Runs, control
from pegboard.graphs import GraphRunner
from pegboard.planning import Planner
from pegboard.storage import MemoryStorage

WAITING = Graph(nodes=(Node(id="ask", kind="wait", wait=Wait(question="?")),))
SLEEPING = Graph(nodes=(Node(id="nap", kind="wait", wait=Wait(seconds=600)),))
LONG = Graph(
    nodes=(Node(id="work", tool="work"), Node(id="after", tool="work", edges=(Edge(node="work"),)))
)


class Bench:
    """Runs on a store in memory, with a tool that works until it is let go."""

    def __init__(self, storage: MemoryStorage) -> None:
        self.store = storage.runs
        self.go, self.stubborn = asyncio.Event(), False
        self.decided: list[str] = []
        registry = ToolRegistry(policy=Policy())
        registry.environment.emitter.add(self)
        spec = ToolSpec(
            name="work", description="Works.", effect=Effect.READ, input_schema={"type": "object"}
        )
        registry.add(SchemaTool(spec=spec, run=self._work))
        self.feed = RunFeed(self.store)
        registry.environment.emitter.add(self.feed)
        self.durability = StoredDurability(self.store, owner="us", every=0.02)
        self.runs = Runs(
            registry,
            self.store,
            runner=GraphRunner(registry, durability=self.durability),
            plans=Plans(registry, self.store, planner=Planner(registry)),
            feed=self.feed,
            follow=self.durability.follow,
        )

    def on_event(self, event: object) -> None:
        if isinstance(event, BoardChanged):
            self.decided.append(event.action)

    async def wishes(self, run_id: str) -> list[Any]:
        known = await self.store.signals(run_id)
        return [item.signal.message for item in known if item.signal.topic == CONTROL]

    async def _work(self, arguments: Any, ctx: ToolContext[Any]) -> Any:
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            if self.stubborn:
                await self.go.wait()
            raise
        return {"done": True}


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with MemoryStorage() as storage:
        made = Bench(storage)
        yield made
        made.go.set()
        await made.durability.close()
        await made.feed.close()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever steers a run waits until it rests, however slow the machine is."""
    monkeypatch.setattr(control, "_SOON", 60.0)
    rest: Any = control.RunControl._wait_until_suspended
    monkeypatch.setattr(rest, "__kwdefaults__", rest.__kwdefaults__ | {"within": 60.0})


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("graph", [WAITING, SLEEPING], ids=["for a person", "for a time"])
async def test_a_run_that_waits_is_told_to_be_paused_and_again_when_it_is_asked_again(
    bench: Bench, graph: Graph
) -> None:
    run_id = await waiting(bench, graph)

    states = [(await bench.runs.pause(run_id, principal=LOCAL)).result.state for _ in range(3)]

    assert states == [NodeState.PAUSED] * 3
    assert await bench.wishes(run_id) == ["pause"]
    assert bench.decided == ["paused"]


async def test_a_run_that_has_only_just_begun_to_wait_is_told_to_be_paused(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "_AT_ONCE", 60.0)  # however slow the machine is
    view = await bench.runs.start_graph(WAITING, principal=LOCAL)

    assert (await bench.runs.pause(view.id, principal=LOCAL)).result.state is NodeState.PAUSED


async def test_whoever_answers_or_sends_is_told_how_the_run_is_then(bench: Bench) -> None:
    both = Graph(
        nodes=(
            Node(id="ask", kind="wait", wait=Wait(question="?")),
            Node(id="news", kind="wait", wait=Wait(event="news")),
            Node(id="work", tool="work", edges=(Edge(node="ask"),)),
        )
    )
    run_id = await waiting(bench, both)
    asked = next(
        item
        for item in (await bench.runs.get(run_id, principal=LOCAL)).result.pending
        if item.kind == "person"
    )

    answered = await bench.runs.answer(run_id, asked.id, "yes", principal=LOCAL)
    sent = await bench.runs.send(run_id, "news", 1, principal=LOCAL)

    states = [view.result.state for view in (answered, sent)]
    assert states == [NodeState.IN_PROGRESS, NodeState.IN_PROGRESS]
    assert asked.id not in {item.id for item in answered.result.pending}


@pytest.mark.usefixtures("patient")
async def test_two_who_pause_a_run_at_once_are_both_told_that_it_is_paused(bench: Bench) -> None:
    run_id = await waiting(bench, WAITING)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(bench.runs.pause(run_id, principal=LOCAL)) for _ in range(5)]

    assert {task.result().result.state for task in tasks} == {NodeState.PAUSED}


@pytest.mark.usefixtures("patient")
async def test_a_paused_run_that_is_let_go_on_is_told_to_wait_for_what_it_waits_for(
    bench: Bench,
) -> None:
    run_id = await waiting(bench, WAITING)
    await bench.runs.pause(run_id, principal=LOCAL)

    resumed = await bench.runs.resume(run_id, principal=LOCAL)
    again = await bench.runs.resume(run_id, principal=LOCAL)
    paused = await bench.runs.pause(run_id, principal=LOCAL)

    states = [view.result.state for view in (resumed, again, paused)]
    assert states == [NodeState.WAITING, NodeState.WAITING, NodeState.PAUSED]
    assert [item.step for item in resumed.result.pending] == ["ask"]
    assert await bench.wishes(run_id) == ["pause", "resume", "pause"]


async def test_a_run_that_is_let_go_on_while_it_goes_on_goes_on(bench: Bench) -> None:
    view = await bench.runs.start_graph(LONG, principal=LOCAL)
    await begun(bench, view.id)

    assert (await bench.runs.resume(view.id, principal=LOCAL)).result.state is NodeState.IN_PROGRESS
    bench.go.set()
    assert (await bench.runs.wait(view.id, principal=LOCAL)).result.state is NodeState.COMPLETED


async def test_a_run_that_does_something_is_paused_when_that_has_ended(bench: Bench) -> None:
    view = await bench.runs.start_graph(LONG, principal=LOCAL)
    await begun(bench, view.id)

    first = await bench.runs.pause(view.id, principal=LOCAL)
    bench.go.set()
    rested = await bench.runs.wait(view.id, principal=LOCAL)
    again = await bench.runs.pause(view.id, principal=LOCAL)

    states = [item.result.state for item in (first, rested, again)]
    assert states == [NodeState.IN_PROGRESS, NodeState.PAUSED, NodeState.PAUSED]
    assert (await bench.runs.resume(view.id, principal=LOCAL)).run.finished_at is None
    assert (await bench.runs.wait(view.id, principal=LOCAL)).result.state is NodeState.COMPLETED


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("graph", [WAITING, SLEEPING, LONG], ids=["person", "time", "tool"])
async def test_whoever_cancels_a_run_is_told_that_it_is_cancelled_and_again(
    bench: Bench, graph: Graph
) -> None:
    view = await bench.runs.start_graph(graph, principal=LOCAL)
    await begun(bench, view.id)

    states = [(await bench.runs.cancel(view.id, principal=LOCAL)).result.state for _ in range(2)]
    after = [
        await bench.runs.pause(view.id, principal=LOCAL),
        await bench.runs.resume(view.id, principal=LOCAL),
    ]

    assert states == [NodeState.CANCELLED] * 2
    assert {item.result.state for item in after} == {NodeState.CANCELLED}
    assert await bench.wishes(view.id) == ["cancel"]
    assert bench.decided == ["cancelled"]


@pytest.mark.timeout(60)
async def test_a_tool_that_ignores_its_cancellation_is_not_waited_for_long(bench: Bench) -> None:
    bench.stubborn = True
    view = await bench.runs.start_graph(LONG, principal=LOCAL)
    await begun(bench, view.id)

    cancelled = await bench.runs.cancel(view.id, principal=LOCAL)

    assert cancelled.result.state is NodeState.IN_PROGRESS
    bench.go.set()
    assert (await bench.runs.wait(view.id, principal=LOCAL)).result.state is NodeState.CANCELLED


async def test_a_run_that_went_to_sleep_with_its_process_is_taken_up_when_its_time_has_come(
    bench: Bench,
) -> None:
    """A message came to it that nobody has played it for."""
    run_id = await waiting(bench, WAITING)
    await bench.durability.close()
    with pytest.raises(Unavailable):
        await bench.runs.send(run_id, "news", principal=LOCAL)

    with pytest.raises(Unavailable):  # it is not taken for a wish that is granted already
        await bench.runs.resume(run_id, principal=LOCAL)

    assert await bench.wishes(run_id) == ["resume"]


async def waiting(bench: Bench, graph: Graph) -> str:
    """A run that only waits."""
    view = await bench.runs.start_graph(graph, principal=LOCAL)
    for _ in range(500):
        if (await bench.runs.get(view.id, principal=LOCAL)).result.state is NodeState.WAITING:
            return view.id
        await asyncio.sleep(0.01)
    raise AssertionError(f"{view.id} does not come to wait")


async def begun(bench: Bench, run_id: str) -> None:
    """Return once a run does something, or waits."""
    for _ in range(500):
        nodes = (await bench.runs.get(run_id, principal=LOCAL)).result.nodes
        if nodes[0].state in {NodeState.IN_PROGRESS, NodeState.WAITING}:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{run_id} does not begin")
