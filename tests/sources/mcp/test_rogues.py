"""Servers that do what no server should: each is told about, and nobody else notices."""

import asyncio
import json
import logging
from typing import Any

import pytest
from tests.network.loopback import always, reply, serving
from tests.sources.mcp.opening import Person, by_action, call_of, logged, opened
from tests.sources.mcp.rogue import PLAIN, replies, result, rogue, rogue_http, said

from pegboard.core.health import HealthStatus
from pegboard.core.principal import LOCAL
from pegboard.errors import MCPConnectionError, SourceUnavailable
from pegboard.sources.mcp.transport.message_rate import MAX_MESSAGES, MessageRate

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]  # servers take seconds to start
FLOOD = 4000


def _notice(method: str, params: str) -> str:
    return f'{{"jsonrpc": "2.0", "method": "notifications/{method}", "params": {params}}}'


def _tools(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    tools = [{**PLAIN, **item} for item in items]
    return {"tools_list": [result({"tools": tools, **more})]}


async def test_a_flood_of_progress_is_passed_on_and_the_call_ends() -> None:
    step = _notice("progress", '{"progressToken": $ID, "progress": $COUNT}')
    steps: list[Any] = []
    config = rogue(tools_call=[{"repeat": FLOOD, "line": step}, said("done")])
    async with opened(config) as source:
        tools = await by_action(source)
        found = await tools["plain"].run({}, call_of(on_progress=steps.append))

    assert found.text == "done"
    assert len(steps) == FLOOD


async def test_a_flood_of_notifications_that_mcp_does_not_allow_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wrong = [
        {"repeat": 1000, "line": _notice("progress", '{"progressToken": {"a": 1}}')},
        {"repeat": 1000, "line": _notice("message", '{"level": "loud", "data": "secret"}')},
        {"repeat": 10, "line": _notice("nobody/knows/this", "{}")},
    ]
    with caplog.at_level(logging.WARNING):
        async with opened(rogue(tools_call=[*wrong, said("done")])) as source:
            tools = await by_action(source)
            found = await tools["plain"].run({}, call_of())

    assert found.text == "done"
    (said_once,) = logged(caplog)
    assert said_once.startswith("MCP server 'shop' sends notifications that MCP does not allow")
    assert "notifications/progress at 'params.progress" in said_once


def in_a_minute() -> MessageRate:
    """Machines that run tests may be slow."""
    return MessageRate(most=MAX_MESSAGES, seconds=60.0)


async def test_a_server_that_talks_without_end_is_ended_and_told() -> None:
    config = {"command": "yes", "args": ["what is no MCP message"]}
    async with opened(config, rate=in_a_minute) as source:
        with pytest.raises(MCPConnectionError, match="more than 25000 messages in 60 s, so it was"):
            await source.tools()
    log = _notice("message", '{"level": "info", "data": "$COUNT"}')
    async with opened(
        rogue(tools_call=[{"repeat": 10**9, "line": log}]), rate=in_a_minute
    ) as source:
        tools = await by_action(source)
        with pytest.raises(MCPConnectionError, match="more than 25000 messages in 60 s, so it was"):
            await tools["plain"].run({}, call_of())
        assert [item.spec.action for item in await source.tools()] == ["plain"]


async def test_a_flood_of_changes_has_the_lists_read_once_in_a_while() -> None:
    change = _notice("tools/list_changed", "{}")
    told: list[int] = []
    config = rogue(tools_call=[{"repeat": FLOOD, "line": change}, said("done")])
    async with opened(config) as source:
        source.on_change(lambda: told.append(1))
        tools = await by_action(source)
        await tools["plain"].run({}, call_of(LOCAL))
        at_first = len(told)
        await asyncio.sleep(1.2)

    assert 1 <= at_first < 20
    assert at_first <= len(told) <= at_first + 1  # what changed last is not forgotten


async def test_a_flood_of_questions_finds_eight_that_are_asked() -> None:
    class Slow(Person):
        async def ask(self, question: Any) -> Any:
            found = await super().ask(question)
            await asyncio.sleep(60)
            return found

    person = Slow()
    params = '{"message": "m", "requestedSchema": {"type": "object", "properties": {}}}'
    method = '"method": "elicitation/create"'
    question = f'{{"jsonrpc": "2.0", "id": "q$COUNT", {method}, "params": {params}}}'
    config = rogue(tools_call=[{"repeat": 500, "line": question}, said("done")])
    async with opened(config) as source:
        tools = await by_action(source)
        await tools["plain"].run({}, call_of(LOCAL, elicitor=person))

    assert len(person.asked) == 8


async def test_of_very_many_tools_ten_thousand_are_offered_and_the_rest_told() -> None:
    many = ", ".join(
        json.dumps({"name": f"tool{number}", "inputSchema": {"type": "object"}})
        for number in range(12_000)
    )
    answers = replies()
    answers["tools/list"] = [f'{{"jsonrpc": "2.0", "id": $ID, "result": {{"tools": [{many}]}}}}']
    async with rogue_http(answers) as (config, _), opened(config) as source:
        tools = await source.tools()
        health = await source.health()

    assert len(tools) == 10_000
    assert "2000 tools, since at most 10000 are read" in health.reason


async def test_a_list_whose_cursor_comes_again_is_told() -> None:
    config = rogue(**_tools({}, nextCursor="again"))
    async with opened(config) as source:
        assert list(await by_action(source)) == ["plain"]
        health = await source.health()

    assert health.status is HealthStatus.DEGRADED
    assert "tools after a cursor that repeats" in health.reason


async def test_what_is_wrong_with_a_list_is_logged_once_and_over_when_it_is_mended(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answers = replies(tools_list=[result({"tools": [PLAIN, 5]})])
    async with rogue_http(answers) as (config, _), opened(config) as source:
        with caplog.at_level(logging.WARNING, logger="pegboard.mcp"):
            await source.tools()
            await source.tools()
        answers["tools/list"] = [result({"tools": [PLAIN]})]
        await source.tools()
        health = await source.health()

    (told,) = logged(caplog)
    assert "number 2 of its tools" in told
    assert health.status is HealthStatus.HEALTHY


async def test_names_that_nobody_can_call_by_are_told() -> None:
    listed = _tools(
        {"name": "same"},
        {"name": "same", "title": "again"},
        {"name": "größe ☂"},
        {"name": "x" * 2000},
        {"name": ""},
        {"name": "a\nb\x1b[2J"},
    )
    async with opened({**rogue(**listed), "rename": {"same": "one", "größe ☂": "one"}}) as source:
        tools = await source.tools()
        health = await source.health()

    names = [tool.spec.name for tool in tools]
    assert names[0] == "shop__one"
    assert len(names) == 2
    assert names[1].startswith("shop__a_b_2J_x")
    assert "'same' (it is listed twice; the first one counts)" in health.reason
    assert "'größe ☂' (it would be 'shop__one' as 'same' is; see 'rename')" in health.reason
    assert "(it has a name of 2000 characters)" in health.reason
    assert "(it has a name of 0 characters)" in health.reason


async def test_a_description_of_a_megabyte_is_cut_and_told() -> None:
    listed = _tools({"description": "d" * 1_000_000, "title": "t" * 1000})
    prompts = {"prompts_list": [result({"prompts": [{"name": "p", "description": "d" * 10**6}]})]}
    answers = replies(**listed, **prompts)
    async with rogue_http(answers) as (config, _), opened(config) as source:
        (tool,) = await source.tools()
        (prompt,) = await source.prompts()
        health = await source.health()

    assert len(tool.spec.description) == len(prompt.spec.description) == 10_001
    assert len(tool.spec.title) == 501
    assert "'plain' (its description is cut after 10000 characters)" in health.reason


async def test_a_schema_that_leads_elsewhere_is_never_followed() -> None:
    async with serving(always(reply(b"{}"))) as elsewhere:
        url = f"http://{elsewhere.authority}/schema"
        schemas: dict[str, dict[str, Any]] = {
            "ref": {"properties": {"a": {"$ref": url}}},
            "file": {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
            "dynamic": {"$dynamicRef": url},
            "meta": {"$schema": url, "properties": {"a": {"type": "string"}}},
            "base": {"$id": url, "properties": {"a": {"$ref": "other"}}},
        }
        items = [
            {"name": name, "inputSchema": {"type": "object", **schema}}
            for name, schema in schemas.items()
        ]
        async with opened(rogue(**_tools(*items))) as source:
            tools = await by_action(source)

        assert elsewhere.requests == []

    told = {name: tool.spec.unavailable for name, tool in tools.items()}
    assert told.pop("meta") == ""
    assert all("with a reference outside itself" in reason for reason in told.values())


async def test_a_recursive_schema_is_kept_and_a_vast_one_refused() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    vast = {"type": "object", "description": "x" * 1_100_000}
    items = [{"name": "tree", "inputSchema": tree}, {"name": "vast", "inputSchema": vast}]
    answers = replies(**_tools(*items))
    async with rogue_http(answers) as (config, _), opened(config) as source:
        tools = await by_action(source)

    assert tools["tree"].spec.unavailable == ""
    assert "a JSON Schema of 1100 kB, and 1000 kB is the limit" in tools["vast"].spec.unavailable


async def test_a_server_that_is_silent_after_its_greeting_is_given_up() -> None:
    silent = rogue(tools_list=[], ping=[])
    async with opened(silent, list_seconds=0.2, ping_seconds=0.2) as source:
        with pytest.raises(MCPConnectionError, match="did not answer in time"):
            await source.tools()
        with pytest.raises(MCPConnectionError, match="did not answer in time"):
            await source.ping()


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"url": "ftp://a/mcp"}, "must start with http:// or https://. Check the url."),
        ({"url": "http://127.0.0.1:99999/mcp"}, "port outside 1 to 65535. Check the url."),
        ({"url": "http://u:p@127.0.0.1:9/mcp"}, "send an Authorization header. Check the url."),
        ({"url": "http://10.0.0.1/mcp"}, "network: {allow_hosts: ['10.0.0.1:80']}."),
        ({"headers": {"X": "a\nb"}}, "'X' in 'headers' cannot be sent: a header has a name of"),
        ({"headers": {"X": "☂"}}, "'X' in 'headers' cannot be sent"),
        ({"headers": {"A B": "x"}}, "'A B' in 'headers' cannot be sent"),
        ({"auth": {"token": "a\nb"}}, "'auth.token' cannot be sent"),
        ({"url": "http://127.0.0.1:9/sse", "headers": {"X": "☂"}}, "'X' in 'headers' cannot be"),
    ],
    ids=["scheme", "port", "user", "refused", "break", "letters", "name", "token", "sse"],
)
async def test_what_cannot_be_sent_says_what_to_write(config: dict[str, Any], says: str) -> None:
    async with opened({"url": "http://127.0.0.1:9/mcp", **config}) as source:
        with pytest.raises(MCPConnectionError) as caught:
            await source.tools()

    assert says in str(caught.value)
    assert ("allow_hosts" in str(caught.value)) == ("allow_hosts" in says)


async def test_an_entry_that_is_wrong_is_a_source_that_says_so() -> None:
    from pegboard.core.ports.services import Services
    from pegboard.sources.mcp import KIND
    from pegboard.sources.mcp.config import FaultyServer

    with pytest.raises(SourceUnavailable, match="the server 'a': is null") as caught:
        await KIND.open("a", FaultyServer(problem="the server 'a': is null"), Services())

    assert not caught.value.retryable
