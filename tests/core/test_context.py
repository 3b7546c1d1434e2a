"""What a running tool knows about its call, and what it may ask."""

import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegboard.core.context import Arguments, Progress, ToolContext
from pegboard.core.elicitation import (
    Answer,
    LogLine,
    Question,
    Sample,
    SampleMessage,
    SampleRequest,
)
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.result import TextPart, ToolResult
from pegboard.errors import ElicitationUnavailable


def test_a_context_that_nobody_filled_is_the_local_caller_without_a_limit() -> None:
    ctx = ToolContext()

    assert (ctx.principal, ctx.remaining(), ctx.deps) == (LOCAL, None, None)


def test_remaining_time_counts_down_and_is_never_negative() -> None:
    soon = ToolContext(deadline=time.monotonic() + 600).remaining()
    past = ToolContext(deadline=time.monotonic() - 60).remaining()

    assert soon is not None
    assert 500 < soon <= 600
    assert past == 0


def test_log_lines_carry_the_call(caplog: pytest.LogCaptureFixture) -> None:
    ctx = ToolContext(call_id="c1", tool="shop__buy", run_id="r1")

    with caplog.at_level(logging.INFO, logger="pegboard.tool"):
        ctx.log.info("bought %s", "pears")

    (line,) = [item for item in caplog.records if item.name == "pegboard.tool"]
    assert line.getMessage() == "bought pears"
    assert (vars(line)["call_id"], vars(line)["tool"], vars(line)["run_id"]) == (
        "c1",
        "shop__buy",
        "r1",
    )


async def test_progress_reaches_whoever_listens() -> None:
    heard: list[Progress] = []
    ctx = ToolContext(call_id="c1", tool="buy", on_progress=heard.append)

    await ctx.progress(1, total=2, message="half")

    assert heard == [Progress(call_id="c1", tool="buy", done=1, total=2, message="half")]


async def test_progress_that_nobody_listens_to_is_fine() -> None:
    assert await ToolContext().progress(1) is None


async def test_an_inner_call_keeps_who_asks_and_by_when_but_not_the_key() -> None:
    seen: list[tuple[str, Arguments, ToolContext[Any]]] = []

    async def caller(tool: str, arguments: Arguments, ctx: ToolContext[Any]) -> ToolResult:
        seen.append((tool, arguments, ctx))
        return ToolResult(content="done")

    deadline = time.monotonic() + 5
    outer = ToolContext(
        deps={"shop": 1},
        principal=Principal(id="ann"),
        run_id="r1",
        call_id="c1",
        deadline=deadline,
        idempotency_key="once",
        workspace=Path("w"),
        caller=caller,
    )

    result = await outer.call("stock", {"item": 1})

    assert result.content == "done"
    (tool, arguments, inner) = seen[0]
    assert (tool, arguments) == ("stock", {"item": 1})
    assert inner == ToolContext(
        deps={"shop": 1},
        principal=Principal(id="ann"),
        run_id="r1",
        parent_id="c1",
        deadline=deadline,
        workspace=Path("w"),
    )


async def test_a_context_outside_a_call_cannot_call() -> None:
    with pytest.raises(RuntimeError, match="belongs to no registry"):
        await ToolContext().call("stock")


class Person:
    """Somebody who can be asked."""

    def __init__(self, *, takes_questions: bool = True, takes_samples: bool = True) -> None:
        self.takes_questions = takes_questions
        self.takes_samples = takes_samples
        self.asked: list[Question | SampleRequest] = []

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return Answer(action="accept", content={"size": 42})

    async def sample(self, request: SampleRequest) -> Sample:
        self.asked.append(request)
        return Sample(content=(TextPart(text="yes"),))


async def test_a_tool_asks_whoever_called_it() -> None:
    person = Person()
    ctx = ToolContext(tool="buy", elicitor=person)
    question = Question(message="Which size?", schema={"type": "object"})
    request = SampleRequest(messages=(SampleMessage(role="user", content=(TextPart(text="?"),)),))

    assert (await ctx.ask(question)).content == {"size": 42}
    assert (await ctx.sample(request)).content == (TextPart(text="yes"),)
    assert person.asked == [replace(question, tool="buy"), request]


@pytest.mark.parametrize("asker", [None, Person(takes_questions=False, takes_samples=False)])
async def test_where_nobody_can_be_asked_the_tool_is_told(asker: Person | None) -> None:
    ctx = ToolContext(tool="buy", elicitor=asker)

    with pytest.raises(ElicitationUnavailable, match="'buy' needs to ask a question"):
        await ctx.ask(Question(message="Which size?"))
    with pytest.raises(ElicitationUnavailable, match="'buy' needs the caller's model"):
        await ctx.sample(SampleRequest(messages=()))


async def test_what_a_tool_tells_reaches_whoever_listens() -> None:
    heard: list[LogLine] = []
    ctx = ToolContext(call_id="c1", tool="buy", on_log=heard.append)

    await ctx.tell({"left": 3}, level="warning", logger="stock")
    await ToolContext().tell("nobody listens")

    assert heard == [
        LogLine(call_id="c1", tool="buy", level="warning", data={"left": 3}, logger="stock")
    ]
