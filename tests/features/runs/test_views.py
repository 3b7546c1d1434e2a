"""How a run is while it is played."""

import asyncio
from typing import Any

from msgspec import structs
from tests.features.runs.test_service import Service

from pegboard import SchemaTool, ToolContext, ToolSpec
from pegboard.core.graph import Edge, ForEach, Graph, Node, NodeState
from pegboard.core.ports.durability import RunStart
from pegboard.core.ports.run_store import RunEvent, StoredRun
from pegboard.core.principal import LOCAL
from pegboard.core.run import RunResult
from pegboard.core.tool import Effect
from pegboard.features.runs import RunView
from pegboard.features.runs.views import find_takeovers, find_waits, result_from_events
from pegboard.storage import MemoryStorage

START = RunStart(run_id="r", graph={}, params={}, principal=LOCAL, created_at=10.0)
RUN = StoredRun(start=START, state=NodeState.IN_PROGRESS)


def changed(node: str, state: str, at: float, **data: Any) -> RunEvent:
    return RunEvent(kind="node_changed", at=at, data={"node": node, "state": state, **data})


def test_the_last_that_is_known_of_each_step_is_shown_with_its_parts() -> None:
    graph = Graph(nodes=(Node(id="a"), Node(id="b"), Node(id="ab")))
    events = [
        RunEvent(kind="run_started", at=10.0),
        changed("a", "in_progress", 11.0),
        changed("a[0]", "failed", 12.0, duration_ms=500.0, error_code="timeout", attempts=2),
        changed("ab", "in_progress", 13.0),
    ]
    result = result_from_events(RUN, graph, events, now=14.0)

    a, b, ab = result.nodes
    assert (a.state, a.started_at) == (NodeState.IN_PROGRESS, 11.0)
    assert [(part.id, part.started_at, part.attempts) for part in a.parts] == [("a[0]", 11.5, 2)]
    assert a.parts[0].error == {"code": "timeout", "message": ""}
    assert (b.state, b.started_at) == (NodeState.PENDING, 0.0)
    assert ab.parts == ()
    assert result.duration_ms == 4000.0


def test_what_a_step_really_took_is_shown_whenever_its_end_was_told() -> None:
    graph = Graph(nodes=(Node(id="a"), Node(id="b")))
    events = [
        changed("a", "in_progress", 10.5),
        changed("a", "completed", 90.0, started_at=11.0, duration_ms=250.0),
        changed("b", "completed", 90.0, started_at=12.0),
    ]
    result = result_from_events(RUN, graph, events, now=95.0)

    assert [(run.started_at, run.duration_ms) for run in result.nodes] == [(11.0, 250.0), (12.0, 0)]


INNER = Graph(
    nodes=(
        Node(id="first", kind="value", input={"a": 1}),
        Node(id="then", tool="echo", edges=(Edge(node="first"),)),
    )
)
LONG = Graph(
    nodes=(
        Node(id="given", kind="value", input={"a": 1}),
        Node(id="made", tool="echo", edges=(Edge(node="given"),)),
        Node(
            id="each",
            kind="graph",
            graph=INNER,
            for_each=ForEach(items=[1, 2, 3], concurrency=1),
            edges=(Edge(node="made"),),
        ),
        Node(id="late", kind="value", input={"a": 1}, edges=(Edge(node="each"),)),
        Node(id="slow", tool="slow", edges=(Edge(node="late"),)),
    )
)


async def test_a_run_that_is_played_again_shows_when_its_steps_really_began() -> None:
    async with MemoryStorage() as storage:
        first = Slow(storage)
        run_id = (await first.runs.start_graph(LONG, principal=LOCAL)).id
        before = await coming_to_slow(first, run_id)
        await first.durability.close()
        await first.feed.close()
        entry = storage.runs._runs[run_id]  # a crash loses the last events
        entry.events[:] = [event for event in entry.events if event.data.get("node") != "made"]
        await asyncio.sleep(0.05)
        again = Slow(storage)
        await again.runs.follow()
        between = await coming_to_slow(again, run_id)
        again.go.set()
        await again.runs.wait(run_id, principal=LOCAL)
        after = await again.runs.get(run_id, principal=LOCAL)
        await again.durability.close()
        await again.feed.close()
        told = next(
            event
            for event in entry.events
            if event.data.get("node") == "made" and event.data.get("state") == "completed"
        )

    assert times(between) == times(before)
    assert times(after) == times(before)
    made = before.result.node("made")
    assert made is not None
    assert told.at == made.started_at + made.duration_ms / 1000
    by_id = {id_: (began, took) for id_, began, took in times(after)}
    assert by_id["each[2]/first"][0] >= sum_of(by_id["each[1]/then"])
    assert by_id["late"][0] == sum_of(by_id["each"])


class Slow(Service):
    """With a tool that works until it is let go."""

    def __init__(self, storage: MemoryStorage) -> None:
        super().__init__(storage)
        self.go = asyncio.Event()
        spec = ToolSpec(name="slow", effect=Effect.READ, input_schema={"type": "object"})
        self.registry.add(SchemaTool(spec=spec, run=self._slow))

    async def _slow(self, arguments: Any, ctx: ToolContext[Any]) -> Any:
        await self.go.wait()
        return {}


async def coming_to_slow(service: Slow, run_id: str) -> RunView:
    for _ in range(500):
        view = await service.runs.get(run_id, principal=LOCAL)
        states = {run.id: run.state for run in view.result.nodes}
        parts = len(tuple(run for node in view.result.nodes for run in node))
        is_there = states["slow"] is NodeState.IN_PROGRESS and parts == 5 + 3 * 3
        if is_there and not service.feed.is_behind(run_id) and states["made"].is_final:
            return view
        await asyncio.sleep(0.01)
    raise AssertionError("the slow step does not begin")


def times(view: RunView) -> list[tuple[str, float, float]]:
    found = [
        (run.id, run.started_at, run.duration_ms) for node in view.result.nodes for run in node
    ]
    return sorted(item for item in found if item[0] != "slow")


def sum_of(time: tuple[float, float]) -> float:
    began, took = time
    return began + took / 1000


def test_a_wait_lasts_until_its_step_goes_on_or_the_run_ends() -> None:
    events = [
        RunEvent(kind="run_started", at=1.0),
        changed("ask", "waiting", 2.0, reason="Well?"),
        changed("other", "in_progress", 3.0),
        changed("call", "unknown", 4.0),
        changed("ask", "waiting", 5.0, reason="Well?"),
        changed("ask", "completed", 6.0),
        changed("late", "waiting", 7.0),
    ]

    waits = [
        (item.step, item.started_at, item.ended_at, item.reason) for item in find_waits(events)
    ]

    assert waits == [("ask", 2.0, 6.0, "Well?"), ("call", 4.0, None, ""), ("late", 7.0, None, "")]
    assert [item.ended_at for item in find_waits(events, until=9.0)] == [6.0, 9.0, 9.0]


def test_a_run_has_a_title_for_people() -> None:
    def title(graph: Graph, document: Any = None, **params: Any) -> str:
        start = structs.replace(START, graph=document or {}, params=params)
        run = structs.replace(RUN, start=start)
        return RunView(run=run, graph=graph, result=RunResult(run_id="r", state=RUN.state)).title

    chat = {"nodes": [{"id": "agent", "config": {"conversation": "c1"}}]}
    two = (Node(id="a", tool="shop__find"), Node(id="b", kind="wait"))

    assert title(Graph(nodes=two, name="Restock")) == "Restock"
    assert title(Graph(nodes=two)) == "shop__find, b"
    assert title(Graph(nodes=())) == "r"
    own = Node(id="document", kind="document", config={"document": "d1"})
    assert title(Graph(nodes=(own,), name="document")) == "Take in a document"
    assert title(Graph(nodes=(two[1],), name="document")) == "document"
    assert title(Graph(nodes=(), name="chat"), chat, message="Where is\n it?") == "Where is it?"
    files = "Read this\n\nFiles in the workspace: `report.csv` (8 bytes)"
    assert title(Graph(nodes=(), name="chat"), chat, message=files) == "Read this"


def test_who_continued_a_run_is_shown_in_order() -> None:
    events = [
        RunEvent(kind="run_started", at=1.0),
        RunEvent(kind="run_taken_over", at=2.0, data={"cause": "lost"}),
        changed("a", "in_progress", 3.0),
        RunEvent(kind="run_taken_over", at=4.0, data={"cause": "stopped"}),
    ]
    takeovers = find_takeovers(events)

    assert [(item.at, item.cause) for item in takeovers] == [(2.0, "lost"), (4.0, "stopped")]
    result = result_from_events(RUN, Graph(nodes=()), events, now=5.0)
    view = RunView(run=RUN, graph=Graph(nodes=()), result=result, takeovers=takeovers)
    assert view.to_dict()["takeovers"][0] == {"at": 2.0, "cause": "lost"}
