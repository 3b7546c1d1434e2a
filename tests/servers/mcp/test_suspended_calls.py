"""Calls that wait for the answers of a client which cannot be called back."""

import asyncio
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequest, CallToolRequestParams
from pydantic import TypeAdapter
from tests.servers.mcp.made import NAME, RUNS, Records, a_board, a_client, a_server, until

from pegboard import ToolContext, ToolFailed, tool
from pegboard.runtime import Pegboard
from pegboard.servers.mcp import suspended_calls
from pegboard.servers.mcp.server import BoardServer
from pegboard.servers.mcp.suspended_calls import SuspendedCalls

MODERN = "2026-07-28"
RESULT: Any = TypeAdapter(types.InputRequiredResult | types.CallToolResult)
ANSWER = types.ElicitResult(action="accept", content={"name": "Ada"})


async def silent(_ctx: Any, _params: Any) -> Any:
    raise AssertionError("the test answers by itself")


class Raw:
    """A client that does each round by itself."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def call(
        self, name: str = "ask", *, arguments: Any = None, state: Any = None, **answers: Any
    ) -> Any:
        """One round."""
        params = CallToolRequestParams(
            name=name,
            arguments=arguments or {},
            request_state=state,
            input_responses=answers or None,
        )
        session: Any = self._client.session
        return await session.send_request(CallToolRequest(params=params), RESULT)


@pytest.fixture
async def raw(server: BoardServer) -> Any:
    from tests.servers.mcp.made import held

    async with held(a_client(server, MODERN, elicitation_callback=silent)) as client:
        yield Raw(client)


async def test_a_call_waits_for_its_answer_and_goes_on(raw: Raw, records: Records) -> None:
    first = await raw.call()
    waiting = list(records.calls)
    last = await raw.call(state=first.request_state, your_name=ANSWER)

    assert list(first.input_requests) == ["your_name"]
    assert waiting == []
    assert last.content[0].text == "accept: Ada"
    assert RUNS == ["asked"]
    assert len(records.calls) == 1


async def test_a_state_is_good_for_one_answer(raw: Raw) -> None:
    first = await raw.call()
    await raw.call(state=first.request_state, your_name=ANSWER)

    with pytest.raises(MCPError, match="used before") as caught:
        await raw.call(state=first.request_state, your_name=ANSWER)

    assert caught.value.code == types.INVALID_PARAMS
    assert RUNS == ["asked"]


@pytest.mark.parametrize(
    "other",
    [{"state": "made up"}, {"name": "think"}, {"arguments": {"a": 1}}],
    ids=["state", "tool", "arguments"],
)
async def test_a_state_is_good_for_its_own_request_alone(raw: Raw, other: Any) -> None:
    first = await raw.call()

    with pytest.raises(MCPError, match="requestState is unknown"):
        await raw.call(**{"state": first.request_state, **other}, your_name=ANSWER)
    last = await raw.call(state=first.request_state, your_name=ANSWER)

    assert last.content[0].text == "accept: Ada"


async def test_a_state_of_another_caller_is_unknown() -> None:
    places = SuspendedCalls()
    call = _parked(("ada", "tools/call"))
    result = await places.start(call, _asking(call))

    request: Any = None
    with pytest.raises(MCPError, match="requestState is unknown"):
        await places.resume(result.request_state, {}, owner=("eve", "tools/call"), request=request)
    await places.close()


async def test_what_is_missing_or_of_another_kind_is_asked_for_again(raw: Raw) -> None:
    first = await raw.call()
    model = types.CreateMessageResult(
        role="assistant", content=types.TextContent(text="no"), model="m"
    )
    second = await raw.call(state=first.request_state, other=ANSWER)
    third = await raw.call(state=second.request_state, your_name=model)
    last = await raw.call(state=third.request_state, your_name=ANSWER, other=ANSWER)

    assert list(second.input_requests) == list(third.input_requests) == ["your_name"]
    assert len({first.request_state, second.request_state, third.request_state}) == 3
    assert last.content[0].text == "accept: Ada"
    assert RUNS == ["asked"]


async def test_answers_that_come_with_the_first_request_are_taken(raw: Raw) -> None:
    result = await raw.call(your_name=ANSWER)

    assert result.content[0].text == "accept: Ada"


async def test_a_call_that_nobody_resumes_is_cancelled_and_recorded(
    board: Pegboard, records: Records
) -> None:
    async with (
        a_server(board, suspended=SuspendedCalls(timeout=0.05)) as server,
        a_client(server, MODERN, elicitation_callback=silent) as client,
    ):
        raw = Raw(client)
        first = await raw.call()
        await until(lambda: bool(records.calls))

        assert [(call.tool, call.status) for call in records.calls] == [("ask", "cancelled")]
        with pytest.raises(MCPError, match="has expired"):
            await raw.call(state=first.request_state, your_name=ANSWER)


async def test_a_call_that_ends_while_it_waits_gives_its_end(
    tmp_path: Any, records: Records
) -> None:
    ended = asyncio.Event()

    @tool(effect="read")
    async def ask_in_vain(ctx: ToolContext) -> str:
        """End before the answer comes."""
        asking = asyncio.create_task(ctx.ask(NAME))
        await ended.wait()
        asking.cancel()
        raise ToolFailed("Nobody has answered.")

    async with (
        a_board(tmp_path, tools=[ask_in_vain], records=records) as board,
        a_server(board) as server,
        a_client(server, MODERN, elicitation_callback=silent) as client,
    ):
        first = await Raw(client).call("ask_in_vain")
        ended.set()
        await until(lambda: bool(records.calls))
        last = await Raw(client).call("ask_in_vain", state=first.request_state, your_name=ANSWER)

    assert last.is_error
    assert "Nobody has answered." in last.content[0].text


@pytest.mark.parametrize("bounds", [{"max_per_caller": 1}, {"max_calls": 1}], ids=["each", "all"])
async def test_no_more_calls_wait_than_there_is_room_for(
    board: Pegboard, bounds: dict[str, int]
) -> None:
    async with (
        a_server(board, suspended=SuspendedCalls(**bounds)) as server,
        a_client(server, MODERN, elicitation_callback=silent) as client,
    ):
        first, refused = await Raw(client).call(), await Raw(client).call()

    assert first.request_state
    assert refused.is_error
    assert "Too many calls wait" in refused.content[0].text


async def test_a_call_is_cancelled_while_its_request_is_open(
    board: Pegboard, server: BoardServer, records: Records
) -> None:
    async with a_client(server, MODERN, elicitation_callback=silent) as client:
        calling = asyncio.create_task(client.call_tool("wait", {}))
        await until(lambda: RUNS == ["began"])
        calling.cancel()
        await asyncio.wait((calling,))
        await until(lambda: bool(records.calls))

    assert [(call.tool, call.status) for call in records.calls] == [("wait", "cancelled")]


async def test_closing_cancels_what_waits(board: Pegboard, records: Records) -> None:
    async with (
        a_server(board) as server,
        a_client(server, MODERN, elicitation_callback=silent) as client,
    ):
        await Raw(client).call()

    assert [call.status for call in records.calls] == ["cancelled"]


def _parked(owner: Any) -> suspended_calls.SuspendedCall:
    from pegboard.servers.mcp.elicitation import ClientAbilities

    form = types.ElicitationCapability()
    abilities = ClientAbilities(types.ClientCapabilities(elicitation=form))

    class Told:
        request: Any = None

        async def flush(self) -> None:
            pass

    told: Any = Told()
    return suspended_calls.SuspendedCall(owner, abilities, told)


async def _asking(call: suspended_calls.SuspendedCall) -> Any:
    return await call.ask(NAME)
