"""Params that do not fit are told where, and nothing of what they hold."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pydantic import BaseModel
from tests.servers.http.live import live, live_settings, patient
from tests.servers.http.test_mcp_endpoint import HEADERS, INITIALIZE

from pegboard.servers.mcp import protocol_errors
from pegboard.servers.mcp.progress import Request


class Shape(BaseModel):
    """Has as many faults as somebody wants."""

    many: list[int]


class Ctx:
    """What the middleware asks of a context."""

    method = "tools/call"


async def refused(value: Any) -> MCPError:
    """What a request is told whose params have these faults."""

    async def handle(_ctx: Request) -> Any:
        Shape.model_validate(value)

    ctx: Any = Ctx()
    with pytest.raises(MCPError) as caught:
        await protocol_errors.name_param_faults(ctx, handle)
    return caught.value


async def test_each_fault_is_told_with_its_place_and_without_its_value() -> None:
    error = await refused({"many": ["hunter2", 1, 1.5]})

    assert error.code == INVALID_PARAMS
    assert error.message.startswith("The params of 'tools/call' do not fit: many.0: ")
    assert "; many.2: " in error.message
    assert "hunter2" not in error.message


async def test_a_hundred_faults_are_not_all_told() -> None:
    error = await refused({"many": ["x"] * 100})

    assert error.message.count("many.") == protocol_errors.MAX_FAULTS


@pytest.fixture
async def session(tmp_path: Path) -> AsyncGenerator[Any]:
    """Asks within a session over HTTP."""
    async with live(live_settings(tmp_path)) as url, patient(headers=HEADERS) as http:
        opened = await http.post(f"{url}/mcp", json=INITIALIZE)
        known = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}

        async def ask(**message: Any) -> str:
            body = {"jsonrpc": "2.0", "id": 2, **message}
            return (await http.post(f"{url}/mcp", json=body, headers=known)).text

        yield ask


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"method": "tools/call"}, "params: Field required"),
        ({"method": "tools/call", "params": {}}, "params.name: Field required"),
        ({"method": "tools/list", "params": {"cursor": 5}}, "params.cursor: "),
        ({"method": "logging/setLevel", "params": {"level": "x"}}, "params.level: "),
    ],
)
async def test_a_request_over_http_is_told_what_does_not_fit(
    session: Any, message: dict[str, Any], said: str
) -> None:
    assert f"do not fit: {said}" in await session(**message)


async def test_what_fits_is_handed_back() -> None:
    async def handle(_ctx: Request) -> dict[str, Any]:
        return {"is": "fine"}

    ctx: Any = Ctx()
    assert await protocol_errors.name_param_faults(ctx, handle) == {"is": "fine"}


async def test_a_session_whose_beginning_did_not_fit_says_that_it_has_not_begun(
    tmp_path: Path,
) -> None:
    unfit = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    later = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    async with live(live_settings(tmp_path)) as url, patient(headers=HEADERS) as http:
        opened = await http.post(f"{url}/mcp", json=unfit)
        known = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        answer = await http.post(f"{url}/mcp", json=later, headers=known)

    assert "params.capabilities: Field required" in opened.text
    assert protocol_errors.UNINITIALIZED in answer.text


async def test_another_error_of_the_protocol_stays() -> None:
    async def handle(_ctx: Request) -> Any:
        raise MCPError(INVALID_PARAMS, "Resource not found")

    ctx: Any = Ctx()
    with pytest.raises(MCPError, match="Resource not found"):
        await protocol_errors.name_param_faults(ctx, handle)
