"""Agents on a bench: a scripted model over the tools of a board."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from tests.graphs.made import OBJECT, Bench

from pegboard import SchemaTool, ToolContext, ToolSpec
from pegboard.core.event import NodeReported
from pegboard.core.graph import Graph, Node
from pegboard.core.principal import Principal
from pegboard.core.run import RunResult
from pegboard.core.tool import Effect
from pegboard.engines import AgentConfig, AgentNode, AgentSetup
from pegboard.graphs import KINDS, GraphRunner
from pegboard.registry.toolset import Toolset
from pegboard.testing import ScriptedModel

ASK = Graph(
    nodes=(Node(id="agent", kind="agent", input={"message": "$.params.message"}),),
    params={"type": "object", "properties": {"message": {"type": "string"}}},
    output="$.steps.agent.output",
)


def add_filler(bench: Bench) -> None:
    """Add the tool `fill`, which returns `n`, in two digits, `size` times."""

    async def run(arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> Any:
        return f"{arguments['n']:02}" * arguments["size"]

    spec = ToolSpec(name="fill", description="Fill.", effect=Effect.READ, input_schema=OBJECT)
    bench.registry.add(SchemaTool(spec=spec, run=run))


def agent_runner(bench: Bench, model: ScriptedModel, **known: Any) -> GraphRunner:
    """A runner whose agents are this model, over all tools of the bench."""

    async def prepare(_config: AgentConfig, principal: Principal) -> AgentSetup:
        listed = tuple(bench.registry.visible(principal))
        return AgentSetup(
            model=model, toolset=Toolset(registry=bench.registry, listed=listed), **known
        )

    bench.runner = GraphRunner(
        bench.registry,
        durability=bench.durability,
        kinds={**KINDS, "agent": AgentNode(prepare)},
    )
    return bench.runner


async def ask(
    bench: Bench,
    model: ScriptedModel,
    message: str = "hi",
    *,
    config: Mapping[str, Any] | None = None,
    **known: Any,
) -> RunResult:
    """Ask an agent, and wait until it has answered or waits for something."""
    graph = ASK.replace(nodes=(dataclasses.replace(ASK.nodes[0], config=config or {}),))
    return await agent_runner(bench, model, **known).run(graph, {"message": message})


def output_of(result: RunResult) -> Mapping[str, Any]:
    """The output of the agent, also of one that failed."""
    return result.nodes[0].output


def told(result: RunResult) -> list[str]:
    """What the run added to the conversation: each message's role and text."""
    return [f"{item['role']}: {item.get('text', '')}" for item in output_of(result)["messages"]]


def reported(bench: Bench, kind: str = "") -> list[tuple[str, Mapping[str, Any]]]:
    """What the agent reported, in order."""
    return [
        (event.kind, event.data)
        for event in bench.heard.events
        if isinstance(event, NodeReported) and kind in {"", event.kind}
    ]
