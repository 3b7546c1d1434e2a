from pegboard.core.graph import NodeState
from pegboard.core.model_messages import ModelUsage
from pegboard.core.run import NodeRun, PendingStep, RunResult

INNER = NodeRun(id="sub/a", state=NodeState.COMPLETED, output=1)
RESULT = RunResult(
    run_id="r",
    state=NodeState.WAITING,
    nodes=(NodeRun(id="sub", state=NodeState.COMPLETED, parts=(INNER,)),),
    pending=(PendingStep(id="w", step="w", kind="event", event="e"),),
)


def test_a_part_of_a_node_is_found_by_its_path() -> None:
    assert RESULT.node("sub/a") is INNER
    assert RESULT.node("nothing") is None
    assert [run.id for run in RESULT.nodes[0]] == ["sub", "sub/a"]


def test_a_run_is_plain_data_without_what_is_not_said() -> None:
    data = RESULT.to_dict()

    assert data["state"] == "waiting"
    assert list(data["nodes"][0]["parts"]) == [{"id": "sub/a", "state": "completed", "output": 1}]
    assert list(data["pending"]) == [{"id": "w", "step": "w", "kind": "event", "event": "e"}]


def test_usage_is_that_of_its_nodes_or_of_their_parts() -> None:
    used = ModelUsage(requests=2, input_tokens=10, cost=0.1)
    turn = NodeRun(id="agent#turn1", state=NodeState.COMPLETED, usage=used)
    agent = NodeRun(id="agent", state=NodeState.COMPLETED, usage=used, parts=(turn,))
    each = NodeRun(id="each", state=NodeState.COMPLETED, parts=(agent, agent))
    run = RunResult(run_id="r", state=NodeState.COMPLETED, nodes=(agent, each, INNER))

    assert agent.count_usage() == used
    assert run.count_usage() == ModelUsage(requests=6, input_tokens=30, cost=0.1 + 0.1 + 0.1)
    assert RESULT.count_usage() == ModelUsage()
