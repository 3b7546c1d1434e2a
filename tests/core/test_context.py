"""What a running tool knows about its call, and what it may ask."""

import logging
import time
from pathlib import Path
from typing import Any

import pytest

from pegboard.core.context import Arguments, Progress, ToolContext
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.result import ToolResult


def test_a_context_that_nobody_filled_is_the_local_caller_without_a_limit() -> None:
    ctx = ToolContext()

    assert (ctx.principal, ctx.remaining(), ctx.deps) == (LOCAL, None, None)


def test_remaining_time_counts_down_and_is_never_negative() -> None:
    soon = ToolContext(deadline=time.monotonic() + 60).remaining()
    past = ToolContext(deadline=time.monotonic() - 60).remaining()

    assert soon is not None
    assert 50 < soon <= 60
    assert past == 0


def test_log_lines_carry_the_call(caplog: pytest.LogCaptureFixture) -> None:
    ctx = ToolContext(call_id="c1", tool="shop__buy", run_id="r1")

    with caplog.at_level(logging.INFO, logger="pegboard.tool"):
        ctx.log.info("bought %s", "pears")

    (line,) = caplog.records
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
