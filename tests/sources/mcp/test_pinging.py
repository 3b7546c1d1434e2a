"""Servers that leave a request unanswered: those that answer nothing more are let go."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from tests.sources.mcp.opening import by_action, call_of, children, opened, until
from tests.sources.mcp.rogue import replies, rogue, rogue_http, said

from pegboard.core.health import HealthStatus
from pegboard.core.principal import LOCAL
from pegboard.sources.mcp import pinging

assert pinging
pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]  # servers take seconds to start


async def called(tool: Any) -> Any:
    return await tool.run({}, call_of(LOCAL))


async def given_up(tool: Any, *, after: float = 0.3) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(after):
            await called(tool)


async def test_a_server_that_hangs_is_replaced_with_the_next_call(tmp_path: Path) -> None:
    config = rogue(tools_call=[{"deaf": str(tmp_path / "was")}, said("well")])
    async with opened(config) as source:
        tools = await by_action(source)
        (first,) = [item.pid for item in children() if item.name().startswith("python")]
        await given_up(tools["plain"])
        results = await asyncio.gather(*(called(tools["plain"]) for _ in range(3)))
        await until(lambda: first not in [item.pid for item in children()])

    assert [item.text for item in results] == ["well"] * 3


async def test_a_health_check_replaces_it_as_well(tmp_path: Path) -> None:
    config = rogue(tools_call=[{"deaf": str(tmp_path / "was")}, said("well")])
    async with opened(config) as source:
        tools = await by_action(source)
        await given_up(tools["plain"])
        health = await source.health()

    assert health.status is HealthStatus.HEALTHY


async def test_a_caller_in_a_hurry_does_not_end_the_look_at_it(tmp_path: Path) -> None:
    config = rogue(tools_call=[{"deaf": str(tmp_path / "was")}, said("well")])
    async with opened(config) as source:
        tools = await by_action(source)
        began = time.monotonic()
        while True:
            try:
                await given_up(tools["plain"])
            except pytest.fail.Exception:
                break
            assert time.monotonic() - began < 20


async def test_a_server_that_answers_something_is_kept() -> None:
    answers = replies()
    del answers["tools/call"]
    async with rogue_http(answers) as (config, server), opened(config) as source:
        tools = await by_action(source)
        await given_up(tools["plain"])
        answers["tools/call"] = [said("well")]
        result = await tools["plain"].run({}, call_of(LOCAL))
        again = await tools["plain"].run({}, call_of(LOCAL))
        asked = [item.body for item in server.requests]

    assert (result.text, again.text) == ("well", "well")
    assert sum(b'"initialize"' in body for body in asked) == 1
    assert sum(b'"ping"' in body for body in asked) == 1


async def test_a_server_that_others_wait_for_is_left_alone() -> None:
    answers = replies()
    del answers["tools/call"]
    async with rogue_http(answers) as (config, server), opened(config) as source:
        tools = await by_action(source)
        waiting = asyncio.create_task(called(tools["plain"]))
        await given_up(tools["plain"])
        await given_up(tools["plain"])
        assert not waiting.done()
        waiting.cancel()
        await asyncio.wait([waiting])

    assert not any(b'"ping"' in item.body for item in server.requests)
