"""Servers that leave a request unanswered: those that answer nothing more are let go."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest
from tests.sources.mcp.opening import by_action, call_of, children, opened, until
from tests.sources.mcp.rogue import replies, rogue, rogue_http, rogue_sse, said

from pegboard.core.health import HealthStatus
from pegboard.core.principal import LOCAL
from pegboard.sources.mcp import ping

assert ping
SOON = {"ping_timeout": 3}
pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]  # servers take seconds to start


async def called(tool: Any) -> Any:
    return await tool.run({}, call_of(LOCAL))


async def given_up(tool: Any, *, after: float = 0.3) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(after):
            await called(tool)


async def test_a_server_that_hangs_is_replaced_with_the_next_call(tmp_path: Path) -> None:
    config = rogue(tools_call=[{"deaf": str(tmp_path / "was")}, said("well")])
    async with opened({**config, **SOON}) as source:
        tools = await by_action(source)
        first = server()
        await given_up(tools["plain"])
        results = await asyncio.gather(*(called(tools["plain"]) for _ in range(3)))
        await until(lambda: first not in [item.pid for item in children()])

    assert [item.text for item in results] == ["well"] * 3


async def test_a_health_check_replaces_it_as_well(tmp_path: Path) -> None:
    config = rogue(tools_call=[{"deaf": str(tmp_path / "was")}, said("well")])
    async with opened({**config, **SOON}) as source:
        tools = await by_action(source)
        await given_up(tools["plain"])
        health = await source.health()

    assert health.status is HealthStatus.HEALTHY


async def test_callers_in_a_hurry_do_not_end_the_look_at_it(tmp_path: Path) -> None:
    async def hurried(tool: Any) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                return (await called(tool)).text == "well"
        return False

    config = rogue(tools_call=[{"deaf": str(tmp_path / "was")}, said("well")])
    async with opened({**config, **SOON}) as source:
        tools = await by_action(source)
        async with asyncio.timeout(20):
            while not await hurried(tools["plain"]):
                pass


def server() -> int:
    """The process that is spoken to."""
    (found,) = [item.pid for item in children() if item.name().startswith("python")]
    return found


async def test_a_server_that_answers_something_is_kept() -> None:
    async with opened({**rogue(tools_call=[]), **SOON}) as source:
        tools = await by_action(source)
        first = server()
        for _ in range(3):
            await given_up(tools["plain"])

        assert server() == first


async def test_a_server_that_others_wait_for_is_left_alone() -> None:
    async with opened({**rogue(tools_call=[], ping=[]), **SOON}) as source:
        tools = await by_action(source)
        first = server()
        waiting = asyncio.create_task(called(tools["plain"]))
        await given_up(tools["plain"])
        await given_up(tools["plain"], after=4)
        assert not waiting.done()
        assert server() == first
        waiting.cancel()
        await asyncio.wait([waiting])


async def test_over_http_each_request_stands_for_itself_and_none_is_made_beside_it() -> None:
    answers = replies()
    del answers["tools/call"]
    async with rogue_http(answers) as (config, http), opened(config) as source:
        tools = await by_action(source)
        await given_up(tools["plain"])
        answers["tools/call"] = [said("well")]
        result = await called(tools["plain"])
        asked = [item.body for item in http.requests]

    assert result.text == "well"
    assert sum(b'"initialize"' in body for body in asked) == 1
    assert not any(b'"ping"' in body for body in asked)


class Answers(dict[str, Any]):
    """What a server answers, and what it was asked."""

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(given)
        self.asked: list[str] = []

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.append(key)
        return super().get(key, default)


async def test_a_stream_for_all_answers_that_says_nothing_more_is_opened_again() -> None:
    answers = Answers(replies(ping=[], tools_call=[]))
    async with rogue_sse(answers) as config, opened(config) as source:
        tools = await by_action(source)
        await given_up(tools["plain"])
        answers["tools/call"] = [said("well")]
        result = await called(tools["plain"])

    assert result.text == "well"
    assert answers.asked.count("initialize") == 2
