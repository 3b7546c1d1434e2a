"""Of an answer and the end of its time, the one that is stored first holds, for both sides."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pegboard import ToolRegistry, tool
from pegboard.core.context import ToolContext
from pegboard.core.elicitation import Question, QuestionRules
from pegboard.core.event import Event, NodeReported
from pegboard.core.graph import Graph, Node
from pegboard.core.ports.durability import Signal
from pegboard.durability import MemoryDurability
from pegboard.errors import AlreadyAnswered
from pegboard.graphs import GraphRunner

SIZE = {"type": "object", "properties": {"size": {"type": "integer"}}}
GRAPH = Graph(nodes=(Node(id="buy", tool="order"),), output="$.steps.buy.output")


@tool(effect="write")
async def order(ctx: ToolContext[Any]) -> str:
    """Ask for a size."""
    answer = await ctx.ask(Question(message="Which size?", schema=SIZE))
    return f"{answer.action} {dict(answer.content)}"


class Race(MemoryDurability):
    """Something happens beside the signal that the time of a question is up.

    Attributes:
        before: Runs before that signal is stored.
        after: Runs after that.
        outcomes: What these have given.
    """

    def __init__(self) -> None:
        super().__init__()
        self.before: Callable[[], Awaitable[str]] | None = None
        self.after: Callable[[], Awaitable[str]] | None = None
        self.outcomes: list[str] = []

    async def signal(self, run_id: str, signal: Signal) -> bool:
        is_end = signal.message is None
        if is_end and self.before is not None:
            self.outcomes.append(await self.before())
        stored = await super().signal(run_id, signal)
        if is_end and self.after is not None:
            self.outcomes.append(await self.after())
        return stored


class Asked:
    """A listener: the ids of questions, and the states in which they were settled."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.states: list[str] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, NodeReported) and event.kind == "question_required":
            self.ids.append(event.data["question"])
        if isinstance(event, NodeReported) and event.kind == "question_settled":
            self.states.append(event.data["state"])


async def run(when: str) -> tuple[str, list[str], list[str]]:
    """What the tool was told, how its question was settled, and what who answered was told."""
    asked = Asked()
    registry = ToolRegistry([order], listeners=[asked])
    async with Race() as race:
        runner = GraphRunner(
            registry, durability=race, question_rules=lambda _: QuestionRules(timeout=0.05)
        )

        async def answer() -> str:
            reply = {"action": "accept", "content": {"size": 7}}
            try:
                await runner.answer_question("r_1", asked.ids[0], reply)
            except AlreadyAnswered:
                return "late"
            return "accepted"

        setattr(race, when, answer)
        await runner.start(GRAPH, {}, run_id="r_1")
        async with asyncio.timeout(8):
            result = await runner.result("r_1")
    return str(result.output), asked.states, race.outcomes


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("before", ("accept {'size': 7}", ["accepted"], ["accepted"])),
        ("after", ("cancel {}", ["expired"], ["late"])),
    ],
)
async def test_an_answer_at_the_end_of_its_time_is_accepted_or_late(
    when: str, expected: tuple[str, list[str], list[str]]
) -> None:
    assert await run(when) == expected
