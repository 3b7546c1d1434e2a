"""A task for another agent: a run within the run, of which only the answer comes back."""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.run import NodeRun
from pegboard.graphs.node_kind import NodeContext
from pegboard.registry.toolset import Delegation

DELEGATE = "delegate"
"""The id of the node that runs the other agent; events of its work have it in their path."""
_PARAMS = {
    "type": "object",
    "properties": {"task": {"type": "string"}},
    "required": ["task"],
}


async def delegate(context: NodeContext, delegation: Delegation) -> NodeRun:
    """Let another agent do a task with its own configuration and the rights of the caller.

    What it does are steps of the same run, so that nothing is repeated after a crash, and it waits
    for approvals as the run does. It gets the task, and returns its answer, what it has used and
    which results it has stored; never its instructions or its messages.
    """
    node = Node(
        id=DELEGATE,
        kind="agent",
        title=delegation.agent,
        input={"message": "$.params.task"},
        config={
            "agent": delegation.agent,
            "is_step": True,
            "steering": f"steer:{context.address}",
        },
    )
    graph = Graph(
        nodes=(node,), name=delegation.agent, params=_PARAMS, output="$.steps.delegate.output"
    )
    run = await context.run_graph(graph, {"task": delegation.task})
    inner: Mapping[str, Any] = (run.parts[0].output if run.parts else None) or {}
    output: dict[str, Any] = {"text": str(inner.get("text", "")), "usage": inner.get("usage") or {}}
    if artifacts := inner.get("artifacts"):
        output["artifacts"] = artifacts
        output["text"] += _list_artifacts(artifacts)
    error = run.error if run.state is not NodeState.FAILED else _name_agent(delegation, run)
    return structs.replace(run, id=context.step, output=output, error=error)


def _list_artifacts(artifacts: list[dict[str, Any]]) -> str:
    lines = [
        f"- {item['handle']}: {item['total_bytes']} bytes of {item['tool']}" for item in artifacts
    ]
    return "\n".join(["", "", "Results that it stored, to be read by their handles:", *lines])


def _name_agent(delegation: Delegation, run: NodeRun) -> Mapping[str, Any]:
    error = dict(run.error or {})
    message = str(error.get("message") or run.reason or "it gave no answer")
    return {**error, "message": f"The agent '{delegation.agent}' failed: {message}"}
