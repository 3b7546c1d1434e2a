"""Sessions: whose questions are whose, what is cancelled, and what one call costs."""

import asyncio
import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from mcp.server.mcpserver import MCPServer
from tests.sources.mcp.opening import (
    ANN,
    BOB,
    STDIO,
    Person,
    by_action,
    call_of,
    opened,
    over_http,
    until,
)
from tests.sources.mcp.rogue import GREETING, result, rogue
from tests.sources.mcp.workshop import server as workshop

from pegboard.core.context import Progress
from pegboard.core.elicitation import Answer, LogLine, Question, Sample, SampleRequest
from pegboard.core.principal import LOCAL
from pegboard.errors import MCPConnectionError, ToolFailed
from pegboard.sources.mcp import server as upstream
from pegboard.sources.mcp.session import session

assert session
assert upstream

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(60),  # servers take seconds to start
    # the workshop logs, as servers still do
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]
ERAS = pytest.mark.parametrize("protocol", ["legacy", "auto", "modern"])


async def _run(tool: Any, arguments: dict[str, Any], ctx: Any) -> Any:
    return await tool.run(arguments, ctx)


@ERAS
async def test_a_proxied_call_is_one_request_and_lists_nothing_again(protocol: str) -> None:
    async with (
        over_http(workshop) as door,
        opened({"url": door.url, "protocol": protocol}) as source,
    ):
        tools = await by_action(source)
        await tools["add"].run({"a": 1, "b": 2}, call_of())
        before = door.posts()
        results = [
            await _run(tools["add"], {"a": number, "b": 1}, call_of()) for number in range(5)
        ]

        assert door.posts() - before == 5
        assert results[4].structured == {"result": 5}


async def test_callers_have_sessions_apart_and_the_board_has_its_own() -> None:
    async with (
        over_http(workshop) as door,
        opened({"url": door.url, "protocol": "legacy"}) as source,
    ):
        tools = await by_action(source)
        listing = door.sessions()
        for principal in (ANN, BOB, ANN):
            await tools["add"].run({"a": 1, "b": 2}, call_of(principal))

        assert len(listing) == 1
        assert len(door.sessions()) == 3


async def test_the_local_caller_is_the_operator() -> None:
    async with (
        over_http(workshop) as door,
        opened({"url": door.url, "protocol": "legacy"}) as source,
    ):
        tools = await by_action(source)
        await tools["add"].run({"a": 1, "b": 2}, call_of(LOCAL))

        assert len(door.sessions()) == 1


@ERAS
async def test_progress_and_log_lines_reach_the_call_that_waits(
    protocol: str, tmp_path: Path
) -> None:
    steps: list[Progress] = []
    lines: list[LogLine] = []
    async with (
        over_http(workshop) as door,
        opened({"url": door.url, "protocol": protocol}) as source,
    ):
        tools = await by_action(source)
        ctx = call_of(on_progress=steps.append, on_log=lines.append)
        await tools["wait"].run({"seconds": 0.05, "file": str(tmp_path / "f")}, ctx)

    assert [(item.done, item.total, item.message) for item in steps] == [(1, 2, "half")]
    assert [(item.level, item.data, item.logger) for item in lines] == [
        ("info", {"step": "half"}, "glue")
    ]


async def test_a_cancelled_call_is_cancelled_on_the_server(tmp_path: Path) -> None:
    file = tmp_path / "cancelled"
    async with opened(STDIO) as source:
        tools = await by_action(source)
        await tools["add"].run({"a": 1, "b": 2}, call_of())
        arguments = {"seconds": 60, "file": str(file)}
        began = asyncio.Event()
        ctx = call_of(on_progress=lambda _: began.set())
        waiting = asyncio.create_task(_run(tools["wait"], arguments, ctx))
        await began.wait()
        waiting.cancel()
        await asyncio.wait([waiting])
        await until(file.exists)
        still = await tools["add"].run({"a": 1, "b": 2}, call_of())

    assert waiting.cancelled()
    assert still.structured == {"result": 3}


async def test_on_http_a_question_reaches_the_call_it_belongs_to_among_others() -> None:
    """Both calls are the same caller's, on the same session, at the same time."""
    people = [Person("red"), Person("blue")]
    async with (
        over_http(workshop) as door,
        opened({"url": door.url, "protocol": "legacy"}) as source,
    ):
        tools = await by_action(source)
        tasks = [
            asyncio.create_task(_run(tools["colour"], {}, call_of(elicitor=person)))
            for person in people
        ]
        await asyncio.wait(tasks)

    assert [task.result().text for task in tasks] == [
        "accept: colour='red'",
        "accept: colour='blue'",
    ]


@dataclass
class Punctual(Person):
    """Somebody who answers once everybody has been asked."""

    barrier: asyncio.Barrier = field(default_factory=lambda: asyncio.Barrier(2))

    async def ask(self, question: Question) -> Answer:
        await self.barrier.wait()
        return await super().ask(question)

    async def sample(self, request: SampleRequest) -> Sample:
        await self.barrier.wait()
        return await super().sample(request)


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_each_of_two_callers_is_asked_for_their_own_call_alone(transport: str) -> None:
    """Both questions are open at the same time; an answer goes to the call that asked."""
    async with contextlib.AsyncExitStack() as stack:
        config = STDIO
        if transport == "http":
            config = {"url": (await stack.enter_async_context(over_http(workshop))).url}
        source = await stack.enter_async_context(opened({**config, "protocol": "legacy"}))
        tools = await by_action(source)
        answers: dict[str, list[str]] = {}
        for tool in ("colour", "rhyme"):
            barrier = asyncio.Barrier(2)
            people = {ANN: Punctual("red", barrier=barrier), BOB: Punctual("blue", barrier=barrier)}
            tasks = [
                asyncio.create_task(_run(tools[tool], {}, call_of(caller, elicitor=person)))
                for caller, person in people.items()
            ]
            await asyncio.wait(tasks)
            answers[tool] = [task.result().text for task in tasks]
            assert [len(person.asked) + len(person.sampled) for person in people.values()] == [1, 1]

    assert answers == {
        "colour": ["accept: colour='red'", "accept: colour='blue'"],
        "rhyme": ["model of red: true", "model of blue: true"],
    }


async def test_on_stdio_the_only_call_in_flight_is_asked() -> None:
    person = Person("green")
    async with opened({**STDIO, "protocol": "legacy"}) as source:
        tools = await by_action(source)
        asked = await tools["colour"].run({}, call_of(elicitor=person))
        rhymed = await tools["rhyme"].run({}, call_of(elicitor=person))

    assert asked.text == "accept: colour='green'"
    assert rhymed.text == "model of green: true"
    assert person.asked[0].message == "Which colour?"
    assert person.sampled[0].max_tokens == 20


async def test_on_stdio_a_question_among_several_calls_is_refused(tmp_path: Path) -> None:
    """The transport does not say whose question it is, and guessing would ask the wrong person."""
    person = Person("green")
    async with opened({**STDIO, "protocol": "legacy"}) as source:
        tools = await by_action(source)
        await tools["add"].run({"a": 1, "b": 2}, call_of())
        arguments = {"seconds": 60, "file": str(tmp_path / "f")}
        began = asyncio.Event()
        ctx = call_of(on_progress=lambda _: began.set())
        other = asyncio.create_task(_run(tools["wait"], arguments, ctx))
        await began.wait()
        with pytest.raises(ToolFailed, match="which one it belongs to"):
            await tools["colour"].run({}, call_of(elicitor=person))
        other.cancel()
        await asyncio.wait([other])

    assert person.asked == []


async def test_a_question_that_nobody_can_answer_is_refused() -> None:
    async with (
        over_http(workshop) as door,
        opened({"url": door.url, "protocol": "legacy"}) as source,
    ):
        tools = await by_action(source)
        with pytest.raises(ToolFailed, match="caller does not take such questions"):
            await tools["colour"].run({}, call_of())
        with pytest.raises(ToolFailed, match="caller does not take such questions"):
            await tools["rhyme"].run({}, call_of(elicitor=Person(takes_samples=False)))


async def test_a_server_may_not_ask_where_the_operator_says_so() -> None:
    person = Person("green")
    async with over_http(workshop) as door, opened({"url": door.url, "asks": False}) as source:
        tools = await by_action(source)
        with pytest.raises(ToolFailed):
            await tools["colour"].run({}, call_of(elicitor=person))

    assert person.asked == []


async def test_a_forgotten_session_is_begun_again_and_the_call_is_done_once() -> None:
    made: list[int] = []
    server = MCPServer("forgetful")

    @server.tool()
    def buy() -> int:
        made.append(1)
        return len(made)

    async with over_http(server) as door, opened({"url": door.url, "protocol": "legacy"}) as source:
        tools = await by_action(source)
        await tools["buy"].run({}, call_of())
        manager = cast("Any", server.session_manager)
        manager._server_instances.clear()  # what a restart does to it
        again = await tools["buy"].run({}, call_of())

    assert again.structured == {"result": 2}


async def test_a_server_that_is_gone_is_an_error_that_says_nothing_was_done() -> None:
    async with over_http(workshop) as door:
        url = door.url
        source = opened({"url": url, "protocol": "legacy"})
        opened_source = await source.__aenter__()
        tools = await by_action(opened_source)
        await tools["add"].run({"a": 1, "b": 2}, call_of())
    try:
        with pytest.raises(MCPConnectionError, match="Check the url") as caught:
            await tools["add"].run({"a": 1, "b": 2}, call_of())
    finally:
        await source.__aexit__(None, None, None)

    assert caught.value.nothing_done


async def test_calls_from_another_event_loop_are_handed_over() -> None:
    steps: list[Progress] = []
    person = Person("green")
    async with (
        over_http(workshop) as door,
        opened({"url": door.url, "protocol": "legacy"}) as source,
    ):
        tools = await by_action(source)

        def elsewhere() -> Any:
            ctx = call_of(elicitor=person, on_progress=steps.append)
            return asyncio.run(_run(tools["colour"], {}, ctx))

        result = await asyncio.to_thread(elsewhere)

    assert result.text == "accept: colour='green'"


async def test_a_server_that_never_answers_how_much_to_log_is_used_all_the_same() -> None:
    greeting = {**GREETING, "capabilities": {**GREETING["capabilities"], "logging": {}}}
    async with opened(rogue(initialize=[result(greeting)])) as source, asyncio.timeout(20):
        assert list(await by_action(source)) == ["plain"]
