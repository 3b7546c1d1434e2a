"""Answers that cannot be read are told at once to the call that waits for them."""

import asyncio
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage
from tests.sources.mcp.opening import by_action, call_of, opened
from tests.sources.mcp.rogue import (
    GREETING,
    PLAIN,
    replies,
    result,
    rogue,
    rogue_http,
    rogue_sse,
    said,
)

from pegboard.core.health import HealthStatus
from pegboard.errors import MCPConnectionError, PegboardError, ToolFailed
from pegboard.sources.mcp.transport.checked_streams import InFlightRequests
from pegboard.sources.mcp.transport.malformed_messages import MalformedMessage

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]  # servers take seconds to start
_AT_ONCE = 20.0  # a deadline of the call is nowhere near: nobody else ends it

GARBLED = {
    "error-text": ('{"jsonrpc": "2.0", "id": $ID, "error": "boom"}', "at 'error'"),
    "error-code": (
        '{"jsonrpc": "2.0", "id": $ID, "error": {"code": "x", "message": "boom"}}',
        "at 'error.code'",
    ),
    "version": ('{"id": $ID, "result": {"content": []}}', "at 'jsonrpc'"),
    "neither": ('{"jsonrpc": "2.0", "id": $ID}', "neither 'result' nor 'error'"),
    "result-text": ('{"jsonrpc": "2.0", "id": $ID, "result": "yes"}', "at 'result'"),
    "cut": ('{"jsonrpc": "2.0", "id": $ID, "result": {"content": [{"ty', "not JSON from character"),
    "control": ('{"jsonrpc": "2.0", "id": $ID, "result": {"a": "\x01"}}', "not JSON from"),
    "batch": ('[{"jsonrpc": "2.0", "id": $ID, "result": {"content": []}}]', "a batch of messages"),
}
CASES = pytest.mark.parametrize(("line", "says"), GARBLED.values(), ids=GARBLED)


async def _called(config: dict[str, Any]) -> Any:
    async with opened(config) as source:
        tools = await by_action(source)
        async with asyncio.timeout(_AT_ONCE):
            return await tools["plain"].run({}, call_of())


@CASES
async def test_over_stdio_the_call_ends_with_what_is_wrong(line: str, says: str) -> None:
    with pytest.raises(ToolFailed, match="an invalid JSON-RPC message") as caught:
        await _called(rogue(tools_call=[line]))

    assert says in str(caught.value)
    assert "boom" not in str(caught.value)


@CASES
async def test_over_http_the_call_ends_with_what_is_wrong(line: str, says: str) -> None:
    async with rogue_http(replies(tools_call=[line])) as (config, _):
        with pytest.raises(ToolFailed, match="an invalid JSON-RPC message") as caught:
            await _called(config)

    assert says in str(caught.value)


@CASES
async def test_on_a_stream_of_http_the_call_ends(line: str, says: str) -> None:
    del says  # the library reads these, and does not say where
    async with rogue_http(replies(tools_call=[line]), stream=True) as (config, _):
        with pytest.raises(ToolFailed, match="an invalid JSON-RPC message"):
            await _called(config)


@pytest.mark.parametrize("case", ["error-text", "version", "neither", "cut"])
async def test_on_the_one_stream_of_sse_the_call_ends(case: str) -> None:
    line, _ = GARBLED[case]
    async with rogue_sse(replies(tools_call=[line])) as config:
        with pytest.raises(ToolFailed, match="an invalid JSON-RPC message"):
            await _called(config)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"jsonrpc": "2.0", "id": 77, "result": {"content": []}}', "it answers 77, and [0-9] was"),
        ('{"jsonrpc": "2.0", "method": "notifications/message"}', "it is not a response"),
        ("", "not JSON from character 1"),
        ("5", "it is not an object"),
    ],
    ids=["another", "notification", "nothing", "number"],
)
async def test_over_http_an_answer_to_something_else_is_none(line: str, says: str) -> None:
    async with rogue_http(replies(tools_call=[line])) as (config, _):
        with pytest.raises(ToolFailed, match=says):
            await _called(config)


async def test_an_error_without_an_id_is_for_the_only_call_that_waits() -> None:
    error = '{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Cannot read it"}}'
    async with rogue_http(replies(tools_call=[error])) as (config, _):
        for given in (rogue(tools_call=[error]), config):
            with pytest.raises(ToolFailed, match="Cannot read it"):
                await _called(given)


async def test_an_error_with_the_librarys_code_for_a_closed_connection_is_the_servers() -> None:
    error = '{"jsonrpc": "2.0", "id": $ID, "error": {"code": -32000, "message": "no licence"}}'
    with pytest.raises(ToolFailed, match="'shop': no licence"):
        await _called(rogue(tools_call=[error]))
    async with opened(rogue(initialize=[error])) as source:
        with pytest.raises(MCPConnectionError, match="refuses to begin: no licence"):
            await source.tools()


async def test_the_first_of_two_answers_counts_and_the_next_call_gets_its_own() -> None:
    config = rogue(tools_call=[said("one $COUNT"), said("two")])
    async with opened(config) as source:
        tools = await by_action(source)
        texts = [(await tools["plain"].run({}, call_of())).text for _ in range(3)]

    assert texts == ["one $COUNT"] * 3


async def test_a_server_that_dies_in_a_call_ends_it() -> None:
    with pytest.raises(MCPConnectionError, match="exit code 3"):
        await _called(rogue(tools_call=[{"exit": 3}]))


async def test_a_message_without_end_is_told_as_the_reason() -> None:
    before = '{"jsonrpc": "2.0", "id": $ID, "result": {"content": [], "x": "'
    wide = {"wide": 65 * 2**20, "before": before, "after": '"}}'}
    with pytest.raises(MCPConnectionError, match="a message of more than 64 MB, so it was ended"):
        await _called(rogue(tools_call=[wide]))
    async with rogue_http(replies(tools_call=[wide])) as (config, _):
        with pytest.raises(ToolFailed, match="answered with more than 64 MB; it should answer in"):
            await _called(config)


@pytest.mark.parametrize("over", ["stdio", "http"])
async def test_another_version_of_the_protocol_is_told_as_the_reason(over: str) -> None:
    answers = {"initialize": [result({**GREETING, "protocolVersion": "1999-01-01"})]}
    says = "speaks another version of MCP .1999-01-01.; Pegboard speaks 2024-11-05"
    async with (
        rogue_http(replies(**answers)) as (config, _),
        opened(rogue(**answers) if over == "stdio" else config) as source,
    ):
        with pytest.raises(MCPConnectionError, match=says):
            await source.tools()


async def test_one_wrong_tool_costs_only_itself_and_is_told_by_its_name() -> None:
    listed = [PLAIN, {"name": "no-schema"}, {"name": "mild", "inputSchema": {"properties": {}}}]
    prompts = [{"name": "greet"}, {"name": "wrong", "arguments": "x"}]
    resources = [{"uri": "a:b", "name": "b"}, {"uri": "a:c"}]
    config = rogue(
        tools_list=[result({"tools": listed})],
        prompts_list=[result({"prompts": prompts})],
        resources_list=[result({"resources": resources})],
    )
    async with opened(config) as source:
        names = list(await by_action(source))
        offered = [item.spec.action for item in await source.prompts()]
        uris = [item.spec.uri for item in await source.resources()]
        health = await source.health()

    assert (names, offered, uris) == (["plain", "mild"], ["greet"], ["a:b"])
    assert health.status is HealthStatus.DEGRADED
    assert "tools that cannot be used: 'no-schema' (at 'inputSchema'" in health.reason
    assert "prompts that cannot be used: 'wrong' (at 'arguments'" in health.reason
    assert "resources that cannot be used: 'a:c' (at 'name'" in health.reason


async def test_a_list_that_is_wrong_as_a_whole_is_an_error() -> None:
    async with opened(rogue(tools_list=[result({"tools": "many"})])) as source:
        with pytest.raises(PegboardError, match="a result that MCP does not allow, at 'tools'"):
            await source.tools()


def _asked(number: int, method: str = "tools/call", **params: Any) -> types.JSONRPCRequest:
    return types.JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=params)


def test_what_nobody_waits_for_is_kept_from_the_library() -> None:
    ledger = InFlightRequests()
    ledger.note_sent(_asked(1))
    ledger.note_sent(
        types.JSONRPCNotification(
            jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 1}
        )
    )

    assert len(ledger) == 0
    assert ledger.check_received(MalformedMessage(b'{"id": 1}'), None) is None
    assert ledger.check_received(MalformedMessage(b"{what"), None) is None
    other = RuntimeError("of the transport")
    assert ledger.check_received(other, None) is other


def test_an_error_without_an_id_among_several_calls_is_nobodys() -> None:
    ledger = InFlightRequests()
    ledger.note_sent(_asked(1))
    ledger.note_sent(_asked(2))
    error = types.ErrorData(code=-32700, message="Cannot read it")
    message = types.JSONRPCError(jsonrpc="2.0", id=None, error=error)
    ledger.check_received(SessionMessage(message), None)

    assert message.id is None
    assert len(ledger) == 2


def test_the_version_of_a_request_says_what_its_list_may_hold() -> None:
    ledger = InFlightRequests()
    meta = {types.PROTOCOL_VERSION_META_KEY: "2026-07-28"}
    ledger.note_sent(_asked(1, "tools/list", _meta=meta))
    page = {"tools": [PLAIN, 5], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    message = types.JSONRPCResponse(jsonrpc="2.0", id=1, result=page)
    ledger.check_received(SessionMessage(message), None)

    assert message.result["tools"] == [PLAIN]
