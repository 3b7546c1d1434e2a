"""Goals on a bench: a model that plans, works, judges and answers by what it is asked."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.engines.made import add_filler
from tests.graphs.made import Bench

from pegboard.core.graph import Graph, Node
from pegboard.core.model_messages import ModelRequest, ModelUsage, SystemMessage
from pegboard.core.principal import Principal
from pegboard.core.run import RunResult
from pegboard.engines import AgentConfig, AgentNode, AgentSetup, GoalNode
from pegboard.graphs import KINDS, GraphRunner
from pegboard.registry.toolset import Toolset
from pegboard.testing import ScriptedModel, Turn

USED = ModelUsage(requests=1, input_tokens=10, output_tokens=1)


def a_step(id: str, *needs: str, **known: Any) -> dict[str, Any]:
    """A step as a model plans it."""
    return {
        "id": id, "title": f"Step {id}", "task": f"Do {id}.", "dependencies": list(needs), **known,
    }  # fmt: skip


def a_judgement(*, achieved: bool = True, missing: str = "") -> dict[str, Any]:
    """A judgement as a model gives it."""
    return {"achieved": achieved, "confidence": 0.9, "reason": "so", "missing": missing}


class Team:
    """A model in all its roles: plans and judgements in order, steps by their task.

    Attributes:
        asked: The role and the last text of each request, in order.
        used: By each plan, judgement and choice.
    """

    def __init__(
        self,
        plans: Sequence[Sequence[Mapping[str, Any]]],
        judgements: Sequence[Mapping[str, Any]] = (),
        *,
        work: Callable[[str, ModelRequest], Turn] | None = None,
        engine: str = "dag",
        final: Turn | Sequence[Turn] | None = None,
    ) -> None:
        self.asked: list[tuple[str, str]] = []
        self.model = ScriptedModel(*[self.answer] * 60, supports_schema=True)
        self.used = USED
        self._plans = list(plans)
        self._judgements = list(judgements)
        self._work = work
        self._engine = engine
        final = final or Turn(text="All done.", usage=USED)
        self._final = [final] if isinstance(final, Turn) else list(final)

    def roles(self) -> list[str]:
        """The roles in which it was asked."""
        return [role for role, _ in self.asked]

    def answer(self, request: ModelRequest) -> Turn:
        """What the model says in the role in which it is asked."""
        system = next((m.text for m in request.messages if isinstance(m, SystemMessage)), "")
        text = request.messages[-1].text
        if "You plan work" in system:
            return self._say("plan", text, {"steps": self._plans.pop(0)})
        if "You judge whether" in system:
            judgement = self._judgements.pop(0) if self._judgements else a_judgement()
            return self._say("judge", text, judgement)
        if "You decide how" in system:
            return self._say("route", text, {"engine": self._engine})
        results = [m.text for m in request.messages if "What was done for this" in m.text]
        if results:
            self.asked.append(("answer", results[-1]))
            return self._final.pop(0) if len(self._final) > 1 else self._final[0]
        self.asked.append(("work", text))
        if self._work is not None:
            return self._work(text, request)
        return Turn(text=f"result of {task_of(text)}", usage=USED)

    def _say(self, role: str, text: str, data: Any) -> Turn:
        self.asked.append((role, text))
        return Turn(text=json.dumps(data), usage=self.used)


def task_of(text: str) -> str:
    """The task of a step, of which its message tells."""
    return text.partition("Your step:\n\nDo ")[2].partition(".")[0]


def goal_runner(bench: Bench, model: ScriptedModel, **known: Any) -> GraphRunner:
    """A runner whose agents and goals are this model, over all tools of the bench."""

    async def prepare(_config: AgentConfig, principal: Principal) -> AgentSetup:
        listed = tuple(bench.registry.visible(principal))
        toolset = Toolset(registry=bench.registry, listed=listed)
        return AgentSetup(model=model, toolset=toolset, **known)

    add_filler(bench)
    agent = AgentNode(prepare)
    kinds = {**KINDS, "agent": agent, "goal": GoalNode(prepare, agent)}
    bench.runner = GraphRunner(bench.registry, durability=bench.durability, kinds=kinds)
    return bench.runner


def a_goal(engine: str = "", **config: Any) -> Graph:
    """A graph of one goal."""
    config |= {"engine": engine} if engine else {}
    node = Node(id="goal", kind="goal", input={"message": "$.params.message"}, config=config)
    params = {"type": "object", "properties": {"message": {"type": "string"}}}
    return Graph(nodes=(node,), params=params, output="$.steps.goal.output")


async def reach(
    bench: Bench,
    team: Team,
    message: str = "Compare a and b.",
    *,
    engine: str = "",
    config: Mapping[str, Any] | None = None,
    **known: Any,
) -> RunResult:
    """Work on a goal, and wait until it is reached or waits for something."""
    runner = goal_runner(bench, team.model, **known)
    return await runner.run(a_goal(engine, **(config or {})), {"message": message})
