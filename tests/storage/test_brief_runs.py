"""Runs as pages have them."""

from typing import Any

from tests.storage.made import ADA, NOON

from pegboard.core.graph import NodeState
from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.durability import RunStart
from pegboard.core.ports.run_store import StoredRun
from pegboard.core.run import NodeRun, PendingStep, RunResult
from pegboard.storage.brief_runs import MAX_WHOLE, shorten_run
from pegboard.storage.json_text import dump

LARGE = "x" * 1_000_000
SMALL: dict[str, Any] = {"nodes": [{"id": "a", "config": {"conversation": "c"}}], "name": "g"}


def a_run(result: RunResult | None = None, **start: Any) -> StoredRun:
    fields: dict[str, Any] = {"graph": SMALL, "params": {"n": 1}, "principal": ADA}
    made = RunStart(run_id="r", created_at=NOON, **(fields | start))
    return StoredRun(start=made, result=result, plan_id="p")


def a_result(**changes: Any) -> RunResult:
    fields: dict[str, Any] = {"nodes": (NodeRun(id="a", state=NodeState.COMPLETED, output=1),)}
    return RunResult(run_id="r", state=NodeState.WAITING, **(fields | changes))


def test_a_run_with_small_values_is_whole() -> None:
    run = a_run(a_result(output={"text": "fine"}))

    assert shorten_run(run) == run
    assert shorten_run(a_run()) == a_run()


def test_large_parameters_are_cut_or_left_out() -> None:
    brief = shorten_run(a_run(params={"message": LARGE, "rows": [LARGE], "n": 7}, env={"a": LARGE}))

    assert brief.is_brief
    assert brief.start.params == {"message": LARGE[:1_000], "rows": None, "n": 7}
    assert (brief.start.graph, brief.start.env, brief.start.principal) == (SMALL, {}, ADA)


def test_of_very_many_parameters_the_message_stays() -> None:
    many = {f"p{number}": "x" * 900 for number in range(100)}
    brief = shorten_run(a_run(params={**many, "message": "Hello."}))

    assert brief.start.params == {"message": "Hello."}


def test_of_a_large_graph_its_names_and_its_conversation_stay() -> None:
    large = {"name": "g", "nodes": [{"id": "a", "config": {"conversation": "c", "text": LARGE}}]}

    assert shorten_run(a_run(graph=large)).start.graph == SMALL


def test_outputs_and_parts_of_a_large_result_are_left_out() -> None:
    part = NodeRun(id="a[0]", state=NodeState.COMPLETED, output=LARGE, usage=ModelUsage(requests=2))
    ask = PendingStep(id="q", step="b", kind="person", assignee="bob")
    result = a_result(
        output={"all": LARGE},
        nodes=(NodeRun(id="a", state=NodeState.COMPLETED, output=[LARGE], parts=(part,)),),
        pending=(ask,),
    )
    brief = shorten_run(a_run(result)).result

    assert brief is not None
    assert (brief.output, brief.pending) == (None, (ask,))
    assert brief.nodes == (
        NodeRun(id="a", state=NodeState.COMPLETED, usage=ModelUsage(requests=2)),
    )


def test_a_brief_run_is_small() -> None:
    nodes = tuple(
        NodeRun(id=f"n{number}", state=NodeState.COMPLETED, output=LARGE) for number in range(9)
    )
    run = a_run(a_result(output=LARGE, nodes=nodes), params={"a": LARGE, "b": [LARGE]})

    assert len(dump(shorten_run(run))) < 2 * MAX_WHOLE
