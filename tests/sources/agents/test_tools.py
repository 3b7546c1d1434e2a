"""An agent as a tool: what it is asked, and what its answer becomes."""

from collections.abc import Sequence
from typing import Any

import pytest

from pegboard import ToolContext
from pegboard.core.ports.source_services.subagents import SubagentAnswer, SubagentTask, WatchedTool
from pegboard.core.tool import AGENT, ToolSpec
from pegboard.errors import SourceUnavailable
from pegboard.sources.agents.config import NamedSubagent, SubagentConfig
from pegboard.sources.agents.tools import SubagentTool, make_spec

SCHEMA = {"type": "object", "properties": {"report": {"type": "string"}}}


class Runner:
    """Notes what it is asked to run."""

    def __init__(self, *answers: SubagentAnswer, known: Sequence[str] = ("search",)) -> None:
        self.answers = list(answers)
        self.known = list(known)
        self.tasks: list[SubagentTask] = []
        self.watched: list[WatchedTool] = []

    def watch(self, tool: WatchedTool) -> None:
        self.watched.append(tool)

    def find_unknown(self, tools: Sequence[str]) -> str:
        return "; ".join(f"there is no tool '{n}'" for n in tools if n not in self.known)

    async def run(self, task: SubagentTask, ctx: ToolContext[Any]) -> SubagentAnswer:
        self.tasks.append(task)
        return self.answers.pop(0)


def an_agent(runner: Runner, *, output: Any = None, **config: Any) -> SubagentTool:
    spec = ToolSpec(
        name="helper",
        title="Helper",
        description="Helps.",
        input_schema={"type": "object"},
        output_schema=output,
    )
    return SubagentTool(spec, SubagentConfig(**config), runner)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "Look it up."}, "Look it up."),
        ({"query": "x", "depth": 2}, '{"query": "x", "depth": 2}'),
        ({"depth": 2}, '{"depth": 2}'),
    ],
    ids=["one text", "several", "one number"],
)
async def test_the_arguments_are_the_message(arguments: Any, message: str) -> None:
    runner = Runner(SubagentAnswer(text="Done."))
    result = await an_agent(runner, tools=("search",), model="m", max_iterations=3).run(
        arguments, ToolContext()
    )

    [task] = runner.tasks
    assert (task.message, task.model, task.turns, task.tools) == (message, "m", 3, ("search",))
    assert "'Helper'. Helps." in task.instructions
    assert (result.text, result.structured) == ("Done.", None)


async def test_an_object_is_the_structured_result_and_its_cost_is_known() -> None:
    runner = Runner(
        SubagentAnswer(
            text="", value={"report": "r"}, model="openai:m", tokens=7, cached_tokens=3, cost=0.1
        )
    )
    result = await an_agent(runner, output=SCHEMA).run({}, ToolContext())

    assert runner.tasks[0].output_schema == SCHEMA
    assert result.structured == {"report": "r"}
    assert (result.meta.tokens, result.meta.cached_tokens, result.meta.cost) == (7, 3, 0.1)
    assert result.meta.model == "openai:m"


@pytest.mark.parametrize(
    ("memory", "arguments", "run_id", "conversation"),
    [
        ("none", {"task": "x"}, "r_1", ""),
        ("conversation", {"task": "x"}, "r_1", "r_1"),
        ("conversation", {"task": "x", "conversation": "c"}, "r_1", "c"),
        ("conversation", {"task": "x"}, "", ""),
    ],
    ids=["none", "of the run", "of the input", "of nothing"],
)
async def test_what_it_remembers_follows_from_the_run_or_the_input(
    memory: Any, arguments: Any, run_id: str, conversation: str
) -> None:
    runner = Runner(SubagentAnswer(text="Done."))
    await an_agent(runner, memory=memory).run(arguments, ToolContext(run_id=run_id))

    assert (runner.tasks[0].conversation, runner.tasks[0].message) == (conversation, "x")


async def test_an_unknown_tool_makes_it_unavailable_until_it_is_there() -> None:
    runner = Runner(SubagentAnswer(text="Done."), known=())
    agent = an_agent(runner, tools=("search",))

    assert runner.watched == [agent]
    assert agent.spec.unavailable == "there is no tool 'search'"
    with pytest.raises(SourceUnavailable, match="there is no tool 'search'"):
        await agent.run({}, ToolContext())

    runner.known.append("search")

    assert (agent.refresh(), agent.refresh()) == (True, False)
    assert agent.spec.unavailable == ""
    assert (await agent.run({}, ToolContext())).text == "Done."


def test_under_another_description_it_is_the_same_agent() -> None:
    runner = Runner(known=())
    named = make_spec("staff", NamedSubagent(name="helper"))
    agent = an_agent(runner, tools=("x",)).with_spec(named)

    assert (agent.spec.name, agent.spec.handler) == ("staff__helper", AGENT)
    assert agent.spec.unavailable == "there is no tool 'x'"
