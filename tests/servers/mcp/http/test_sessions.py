"""Sessions of streamable HTTP: bounded, ended when idle, and of one caller."""

import asyncio
import json
from typing import Any

import httpx2
import pytest
from tests.servers.http.test_mcp_endpoint import HEADERS, INITIALIZE
from tests.servers.mcp.made import until

from pegboard import tool
from pegboard.core.principal import LOCAL, Principal
from pegboard.runtime import Pegboard
from pegboard.servers.mcp.callers import CURRENT
from pegboard.servers.mcp.http.sessions import HttpSessions
from pegboard.servers.mcp.protocol_errors import DUPLICATE_ID
from pegboard.servers.mcp.selection import WHOLE_BOARD

PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
MODERN = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover"}
DISCOVER = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "server/discover",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}


def called(number: Any) -> dict[str, Any]:
    params = {"name": "hold", "arguments": {}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class Door:
    """An ASGI application that takes the caller from a header, as a gate would."""

    def __init__(self, sessions: HttpSessions) -> None:
        self._sessions = sessions

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        name = dict(scope["headers"]).get(b"x-caller", b"").decode()
        principal = Principal(id=name) if name else LOCAL
        scope["state"] = {"principal": principal}
        await self._sessions.handle(
            scope, receive, send, principal=principal, selection=WHOLE_BOARD
        )


@pytest.fixture
async def opened(board: Pegboard, request: pytest.FixtureRequest) -> Any:
    sessions = await HttpSessions.open(board, **getattr(request, "param", {}))
    yield sessions
    await sessions.close()


def client(
    sessions: HttpSessions, caller: str = "", *, address: str = "127.0.0.1"
) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=Door(sessions), client=(address, 1)),
        base_url="http://127.0.0.1",
        headers=HEADERS | ({"X-Caller": caller} if caller else {}),
    )


async def begun(http: httpx2.AsyncClient) -> dict[str, str]:
    answer = await http.post("/", json=INITIALIZE)
    return {"Mcp-Session-Id": answer.headers["mcp-session-id"]}


async def test_a_session_answers_nobody_but_who_began_it(opened: HttpSessions) -> None:
    async with client(opened, "ada") as ada, client(opened, "eve") as eve:
        session = await begun(ada)
        own = await ada.post("/", json=PING, headers=session)
        others = await eve.post("/", json=PING, headers=session)
        ended = await eve.delete("/", headers=session)

    assert (own.status_code, others.status_code, ended.status_code) == (200, 404, 404)
    assert CURRENT.get() is None


@pytest.mark.parametrize("opened", [{"max_sessions": 2}], indirect=True)
async def test_a_session_beyond_the_limit_of_the_server_ends_the_longest_idle_one(
    opened: HttpSessions,
) -> None:
    async with client(opened, "ada") as ada, client(opened, "eve") as eve:
        first, second = await begun(ada), await begun(ada)
        begins = await eve.post("/", json=INITIALIZE)
        left = [await ada.post("/", json=PING, headers=item) for item in (first, second)]

    assert begins.status_code == 200
    assert [answer.status_code for answer in left] == [404, 200]
    assert len(opened._manager._server_instances) == 2


@pytest.mark.parametrize("opened", [{"idle_timeout": 0.1}], indirect=True)
async def test_a_session_that_nobody_uses_ends(opened: HttpSessions) -> None:
    async with client(opened) as http:
        session = await begun(http)
        await until(lambda: not opened._manager._server_instances)
        answer = await http.post("/", json=PING, headers=session)

    assert answer.status_code == 404


@pytest.mark.parametrize("opened", [{"max_sessions": 5, "max_per_caller": 2}], indirect=True)
async def test_abandoned_sessions_of_a_caller_make_room_for_new_ones_and_leave_others_alone(
    opened: HttpSessions,
) -> None:
    async with client(opened, "ada") as ada, client(opened, "eve") as eve:
        other = await begun(eve)
        sessions = [await begun(ada) for _ in range(20)]
        own = [await ada.post("/", json=PING, headers=session) for session in sessions]
        others = await eve.post("/", json=PING, headers=other)

    assert [answer.status_code for answer in own] == [404] * 18 + [200, 200]
    assert others.status_code == 200
    assert len(opened._quota) == len(opened._manager._server_instances) == 3


@pytest.mark.parametrize("opened", [{"max_per_caller": 1}], indirect=True)
async def test_a_session_with_a_running_request_is_not_ended(
    board: Pegboard, opened: HttpSessions
) -> None:
    go_on, running = asyncio.Event(), asyncio.Event()

    @tool
    async def hold() -> str:
        """Hold."""
        running.set()
        await go_on.wait()
        return "done"

    board.registry.add(hold)
    async with client(opened) as http:
        session = await begun(http)
        call = asyncio.ensure_future(http.post("/", json=called(2), headers=session))
        await running.wait()
        refused = await http.post("/", json=INITIALIZE)
        alone = await http.post("/", json=DISCOVER, headers=MODERN)
        go_on.set()
        answer = await call

    assert refused.status_code == 429
    assert refused.json()["id"] is None
    assert "1 sessions are in use, the maximum for one caller" in refused.text
    assert (answer.status_code, alone.status_code) == (200, 200)


@pytest.mark.parametrize("opened", [{"max_per_caller": 1}], indirect=True)
async def test_what_begins_no_session_takes_no_place(opened: HttpSessions) -> None:
    async with client(opened) as http:
        for body in (b"no json", json.dumps(PING).encode(), b"{}"):
            assert (await http.post("/", content=body)).status_code == 400
        assert (await http.get("/")).status_code in (400, 406)
        begins = await http.post("/", json=INITIALIZE)

    assert begins.status_code == 200


@pytest.mark.parametrize("opened", [{"max_per_caller": 1, "idle_timeout": 0.1}], indirect=True)
async def test_the_place_of_a_session_that_nobody_uses_is_free_again(opened: HttpSessions) -> None:
    async with client(opened) as http:
        await begun(http)
        await until(lambda: not opened._manager._server_instances)
        again = await http.post("/", json=INITIALIZE)

    assert again.status_code == 200


async def test_of_two_requests_with_one_id_the_second_is_refused_and_the_first_answered(
    opened: HttpSessions, board: Pegboard
) -> None:
    holding, release = asyncio.Event(), asyncio.Event()

    @tool(name="hold", description="Wait.")
    async def hold() -> str:
        holding.set()
        await release.wait()
        return "done"

    board.registry.add(hold)
    async with client(opened, "ada") as http, client(opened, "eve") as eve:
        session = await begun(http)
        first = asyncio.create_task(http.post("/", json=called(7), headers=session))
        await holding.wait()
        second = await http.post("/", json=called("7"), headers=session)
        other = await http.post("/", json={**PING, "id": 8}, headers=session)
        others = await eve.post("/", json=called(7), headers=session)
        release.set()
        answer = await first
        later = await http.post("/", json=called(7), headers=session)

    assert second.status_code == 400
    assert second.json()["id"] == "7"
    assert second.json()["error"] == {"code": -32600, "message": DUPLICATE_ID}
    assert other.status_code == 200
    assert others.status_code == 404
    assert "done" in answer.text
    assert "done" in later.text
