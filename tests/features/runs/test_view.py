"""How a run is while it is played."""

from typing import Any

from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.ports.durability import RunStart
from pegboard.core.ports.run import RunEvent, StoredRun
from pegboard.core.principal import LOCAL
from pegboard.features.runs.view import as_it_is

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
    result = as_it_is(RUN, graph, events, now=14.0)

    a, b, ab = result.nodes
    assert (a.state, a.started_at) == (NodeState.IN_PROGRESS, 11.0)
    assert [(part.id, part.started_at, part.attempts) for part in a.parts] == [("a[0]", 11.5, 2)]
    assert a.parts[0].error == {"code": "timeout", "message": ""}
    assert (b.state, b.started_at) == (NodeState.PENDING, 0.0)
    assert ab.parts == ()
    assert result.duration_ms == 4000.0
