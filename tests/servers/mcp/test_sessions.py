"""Sessions of streamable HTTP: bounded, ended when idle, and nobody else's."""

import asyncio
from typing import Any

import httpx2
import pytest
from tests.servers.http.test_mcp_endpoint import HEADERS, INITIALIZE

from pegboard.core.principal import LOCAL, Principal
from pegboard.runtime import Pegboard
from pegboard.servers.mcp.callers import CURRENT
from pegboard.servers.mcp.part import WHOLE
from pegboard.servers.mcp.sessions import Sessions

PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


class Door:
    """An ASGI application that takes the caller from a header, as a gate would."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        name = dict(scope["headers"]).get(b"x-caller", b"").decode()
        principal = Principal(id=name) if name else LOCAL
        scope["state"] = {"principal": principal}
        await self._sessions.handle(scope, receive, send, principal=principal, part=WHOLE)


@pytest.fixture
async def opened(board: Pegboard, request: pytest.FixtureRequest) -> Any:
    sessions = await Sessions.open(board, **getattr(request, "param", {}))
    yield sessions
    await sessions.close()


def client(sessions: Sessions, caller: str = "") -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=Door(sessions)),
        base_url="http://127.0.0.1",
        headers=HEADERS | ({"X-Caller": caller} if caller else {}),
    )


async def begun(http: httpx2.AsyncClient) -> dict[str, str]:
    answer = await http.post("/", json=INITIALIZE)
    return {"Mcp-Session-Id": answer.headers["mcp-session-id"]}


async def test_a_session_answers_nobody_but_who_began_it(opened: Sessions) -> None:
    async with client(opened, "ada") as ada, client(opened, "eve") as eve:
        session = await begun(ada)
        own = await ada.post("/", json=PING, headers=session)
        others = await eve.post("/", json=PING, headers=session)
        ended = await eve.delete("/", headers=session)

    assert (own.status_code, others.status_code, ended.status_code) == (200, 404, 404)
    assert CURRENT.get() is None


@pytest.mark.parametrize("opened", [{"most": 2}], indirect=True)
async def test_there_are_no_more_sessions_than_there_is_room_for(opened: Sessions) -> None:
    async with client(opened) as http:
        first = await begun(http)
        await begun(http)
        refused = await http.post("/", json=INITIALIZE)
        await http.delete("/", headers=first)
        again = await http.post("/", json=INITIALIZE)

    assert (refused.status_code, again.status_code) == (503, 200)


@pytest.mark.parametrize("opened", [{"idle": 0.1}], indirect=True)
async def test_a_session_that_nobody_uses_ends(opened: Sessions) -> None:
    async with client(opened) as http:
        session = await begun(http)
        await asyncio.sleep(0.3)
        answer = await http.post("/", json=PING, headers=session)

    assert answer.status_code == 404
