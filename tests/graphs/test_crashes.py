"""A crash at every await of the runner and of the store, and what must be true afterwards."""

from collections import Counter

import pytest
from tests.graphs.crashing import Life, driven, slow_journal
from tests.graphs.made import World, after, call, states

from pegboard.core.graph import Edge, Fallback, ForEach, Graph, Node, Repeat, Wait
from pegboard.core.run import RunResult
from pegboard.durability.memory.journal import JournalEntry
from pegboard.testing import FakeClock


def wait(id: str, *names: str, **fields: object) -> Node:
    return Node(id=id, kind="wait", wait=Wait(**fields), edges=after(*names))  # type: ignore[arg-type]  # fields of a wait


INNER = Graph(
    nodes=(call("find", "find"), call("write", "write", "find", input={"step": "sub/write"}))
)
GRAPHS = {
    "calls": Graph(
        nodes=(
            call("read", "read", input={"n": 1}),
            call("pay", "pay", "read", input={"step": "pay", "n": "$.steps.read.output.n"}),
            call("put", "put", "read"),
            call(
                "bad",
                "look",
                "read",
                input={"fail": "no"},
                fallbacks=(Fallback(tool="find", input={}),),
            ),
            call("never", "erase", "pay", when="steps.pay.output.n == 2"),
            call("join", "read", "pay", "put", "bad", input={"n": "$.steps.pay.output.n"}),
        ),
        output={"n": "$.steps.join.output.n"},
    ),
    "parts": Graph(
        nodes=(
            call(
                "pay", "pay", for_each=ForEach(items=["pay[0]", "pay[1]"]), input={"step": "$.item"}
            ),
            call("poll", repeat=Repeat(until="output.n == 1"), input={"n": "$.index"}),
            Node(id="sub", kind="graph", graph=INNER, edges=after("poll")),
        ),
        output={"pay": "$.steps.pay.output[1].step", "poll": "$.steps.poll.output.n"},
    ),
    "waits": Graph(
        nodes=(
            wait("time", seconds=3),
            wait("event", event="e"),
            wait("person", "time", question="Go?"),
            call("pay", "pay", "event", input={"step": "pay", "n": "$.steps.event.output.n"}),
            call("undo", "look", edges=(Edge(node="pay", outcome="failed"),)),
            call("end", "read", "person", "pay", input={"ok": "$.steps.person.output.ok"}),
        ),
        output={"ok": "$.steps.end.output.ok"},
    ),
}
OUTPUTS = {"calls": {"n": 1}, "parts": {"pay": "pay[1]", "poll": 1}, "waits": {"ok": True}}


def lived(graph: Graph, *deaths: int) -> tuple[Life, World]:
    """Live through these deaths, then to the end; what was recorded is not done again."""
    clock, world, journal = FakeClock(), World(), slow_journal()

    def live(dies_at: int) -> Life:
        recorded, before = _recorded(journal.runs), len(world.keys)
        life = Life(
            lambda bench: driven(bench, graph),
            clock=clock,
            world=world,
            journal=journal,
            dies_at=dies_at,
        )
        again = {key.split(":")[1] for key in world.keys[before:]}
        assert again.isdisjoint(recorded), "a step that had ended was done again"
        return life

    for dies_at in deaths:
        life = live(dies_at)
        if not life.has_died:
            return life, world
        journal = journal.copy()
    return live(0), world


def _recorded(runs: dict[str, JournalEntry]) -> set[str]:
    steps = runs["r"].steps if "r" in runs else {}
    done = {path for path, step in steps.items() if step.value is not None}
    # a call that failed has a fallback, which is called under the same path
    return {path.replace("/[", "[").replace("/#", "#") for path in done} - {"bad"}


def check(name: str, result: RunResult | None, world: World) -> None:
    assert result is not None
    assert result.state.value == "completed", (result.error, states(result))
    assert result.output == OUTPUTS[name]
    done = Counter((tool, arguments.get("step")) for tool, arguments, _ in world.ended)
    twice = {key: n for key, n in done.items() if key[0] in {"pay", "write"} and n != 1}
    assert twice == {}, "a write was done twice, or not at all"


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_crash_at_any_await_loses_nothing_and_repeats_nothing(name: str) -> None:
    graph = GRAPHS[name]
    whole, world = lived(graph)
    check(name, whole.result, world)
    assert whole.steps > 50

    for dies_at in range(1, whole.steps):
        life, world = lived(graph, dies_at)
        check(name, life.result, world)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", GRAPHS)
def test_two_crashes_lose_no_more_than_one(name: str) -> None:
    graph = GRAPHS[name]
    whole, _ = lived(graph)

    for first in range(5, whole.steps, 17):
        for second in range(3, whole.steps, 23):
            life, world = lived(graph, first, second)
            check(name, life.result, world)
