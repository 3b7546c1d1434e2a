"""`/mcp` of a server that really listens."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from tests.servers.http.live import begun, live, live_settings, patient, until
from tests.servers.mcp.made import ERAS
from tests.servers.mcp.test_handlers import words
from tests.servers.mcp.test_progress import Heard
from tests.shape import tree

from pegboard.runtime import Pegboard, Settings
from pegboard.servers.extras import require_mcp_extra
from pegboard.servers.http import create_app, mcp_endpoint

FIXTURES = tree.ROOT / "tests" / "peers" / "conformance_server" / "board.yaml"
TOKEN = "correct horse battery staple"
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture(params=ERAS, ids=["2025-11-25", "2026-07-28"])
def era(request: pytest.FixtureRequest) -> str:
    """One of the eras of the protocol."""
    return str(request.param)


@asynccontextmanager
async def connected(url: str, era: str, **given: Any) -> AsyncGenerator[Any]:
    """A client over HTTP in one of the eras."""
    async with Client(url, mode=era, **given) as client:
        yield client


def fixtures(**given: Any) -> Settings:
    return Settings.model_validate({"board": FIXTURES, "port": 0, "reload": "off", **given})


async def test_a_board_is_listed_and_called(tmp_path: Path, era: str) -> None:
    async with live(live_settings(tmp_path)) as url, connected(f"{url}/mcp", era) as client:
        names = [item.name for item in (await client.list_tools()).tools]
        result = await client.call_tool("my__greet", {"name": "Ada"})

    assert names == ["board__read_result", "my__greet", "my__linger", "my__meet", "my__stubborn"]
    assert words(result) == "Hello Ada!"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_server_says_who_it_is(tmp_path: Path, mode: str) -> None:
    async with live(live_settings(tmp_path)) as url, connected(f"{url}/mcp", mode) as client:
        info, capabilities = client.server_info, client.server_capabilities
        instructions = client.instructions

    assert info is not None
    assert (info.name, info.title) == ("pegboard", "Pegboard")
    assert info.version
    assert "pegboard://results/" in (instructions or "")
    assert capabilities.tools is not None
    assert capabilities.tools.list_changed
    assert capabilities.resources is not None
    assert capabilities.resources.subscribe
    assert capabilities.completions is not None


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("/mcp?only=*greet", ["my__greet"]),
        ("/mcp?source=my&exclude=*stubborn&exclude=*linger", ["my__greet", "my__meet"]),
        ("/mcp/my?exclude=my__l*", ["greet", "meet", "stubborn"]),
        ("/mcp?category=nothing", []),
    ],
)
async def test_an_address_names_a_part_of_the_board(
    tmp_path: Path, era: str, address: str, names: list[str]
) -> None:
    async with live(live_settings(tmp_path)) as url, connected(url + address, era) as client:
        listed = [item.name for item in (await client.list_tools()).tools]

    assert listed == names


@pytest.mark.parametrize(
    ("address", "status", "detail"),
    [
        ("/mcp?source=mi", 400, "There is no source 'mi' on the board; it has my."),
        ("/mcp?only=mmy__*", 400, "There is no source 'mmy' on the board; did you mean 'my'?"),
        ("/mcp/mmy", 404, "There is no source 'mmy' on the board; did you mean 'my'?"),
    ],
)
async def test_a_misspelt_source_is_refused(
    tmp_path: Path, address: str, status: int, detail: str
) -> None:
    async with live(live_settings(tmp_path)) as url, patient(headers=HEADERS) as http:
        answer = await http.post(url + address, json=INITIALIZE)

    assert (answer.status_code, answer.json()["detail"]) == (status, detail)


async def test_a_source_as_itself_has_its_own_names_and_uris(era: str) -> None:
    async with (
        live(fixtures()) as url,
        connected(f"{url}/mcp/fixtures", era) as own,
        connected(f"{url}/mcp", era) as whole,
    ):
        called = await own.call_tool("test_simple_text", {})
        uris = [str(item.uri) for item in (await own.list_resources()).resources]
        board_uris = [str(item.uri) for item in (await whole.list_resources()).resources]
        read = await own.read_resource("test://static-text")
        templated = await own.read_resource("test://template/7/data")
        with pytest.raises(MCPError, match="Did you mean 'test_simple_text'"):
            await own.call_tool("test_simple_tex", {})

    assert words(called).startswith("This is a simple text")
    assert "test://static-text" in uris
    assert "board://fixtures/test://static-text" in board_uris
    assert str(read.contents[0].uri) == "test://static-text"
    assert json.loads(templated.contents[0].text)["id"] == "7"


@pytest.mark.timeout(60)
async def test_progress_arrives_while_a_call_runs(era: str) -> None:
    heard = Heard()
    async with live(fixtures()) as url, connected(f"{url}/mcp/fixtures", era) as client:
        await client.call_tool("test_tool_with_progress", {}, progress_callback=heard.on_progress)

    assert [(done, total) for done, total, _ in heard.progress] == [(0, 100), (50, 100), (100, 100)]


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_two_clients_call_at_once_and_keep_their_own_state(tmp_path: Path, era: str) -> None:
    async with (
        live(live_settings(tmp_path)) as url,
        connected(f"{url}/mcp", era) as one,
        connected(f"{url}/mcp/my", era) as two,
        asyncio.TaskGroup() as group,
    ):
        ones = [group.create_task(one.call_tool("my__greet", {"name": f"a{n}"})) for n in range(20)]
        twos = [group.create_task(two.call_tool("greet", {"name": f"b{n}"})) for n in range(20)]

    assert [words(call.result()) for call in ones] == [f"Hello a{n}!" for n in range(20)]
    assert [words(call.result()) for call in twos] == [f"Hello b{n}!" for n in range(20)]


async def test_a_token_is_asked_for_as_on_every_other_path(tmp_path: Path, era: str) -> None:
    settings = live_settings(tmp_path, token=TOKEN)
    async with live(settings) as url, patient() as stranger:
        refused = await stranger.post(f"{url}/mcp", json=INITIALIZE, headers=HEADERS)
        async with patient(headers={"Authorization": f"Bearer {TOKEN}"}) as http:
            transport = streamable_http_client(f"{url}/mcp", http_client=http)
            async with Client(transport, mode=era) as client:
                result = await client.call_tool("my__greet", {})

    assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")
    assert words(result) == "Hello you!"


@pytest.mark.parametrize(
    ("method", "address", "headers", "body", "status"),
    [
        ("POST", "/mcp", {"Host": "evil.example"}, INITIALIZE, 403),
        ("POST", "/mcp", {"Origin": "http://evil.example"}, INITIALIZE, 403),
        ("POST", "/mcp", {"Accept": "application/json"}, INITIALIZE, 406),
        ("POST", "/mcp", {"Accept": "text/html"}, INITIALIZE, 406),
        ("POST", "/mcp", {"Content-Type": "text/plain"}, INITIALIZE, 400),
        ("POST", "/mcp", {}, "{", 400),
        ("POST", "/mcp", {}, '{"jsonrpc": "2.0"}', 400),
        ("POST", "/mcp", {}, "[" * 10_000, 400),
        ("POST", "/mcp", {}, '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', 400),
        ("POST", "/mcp", {"Mcp-Session-Id": "made-up"}, INITIALIZE, 404),
        ("GET", "/mcp", {"Mcp-Session-Id": "made-up"}, None, 404),
        ("DELETE", "/mcp", {"Mcp-Session-Id": "made-up"}, None, 404),
        ("PUT", "/mcp", {}, INITIALIZE, 405),
        ("POST", "/mcp", {"MCP-Protocol-Version": "1999-01-01"}, INITIALIZE, 400),
        ("POST", "/mcp", {}, "x" * 200_000, 413),
        ("POST", "/mcp/nothing", {}, INITIALIZE, 404),
        ("POST", "/mcp?nothing=1", {}, INITIALIZE, 400),
    ],
)
async def test_what_is_no_proper_request_is_refused(
    tmp_path: Path,
    method: str,
    address: str,
    headers: dict[str, str],
    body: Any,
    status: int,
) -> None:
    content = body if isinstance(body, str) else json.dumps(body) if body else None
    settings = live_settings(tmp_path, max_request_bytes=100_000)
    async with live(settings) as url, patient() as http:
        answer = await http.request(
            method, url + address, headers=HEADERS | headers, content=content
        )
        healthy = await http.get(f"{url}/healthz")

    assert answer.status_code == status
    assert "Traceback" not in answer.text
    assert healthy.status_code == 200


async def test_a_session_ends_when_its_client_says_so(tmp_path: Path) -> None:
    async with live(live_settings(tmp_path)) as url, patient(headers=HEADERS) as http:
        opened = await http.post(f"{url}/mcp", json=INITIALIZE)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        ended = await http.delete(f"{url}/mcp", headers=session)
        after = await http.post(
            f"{url}/mcp", headers=session, json={"jsonrpc": "2.0", "id": 2, "method": "ping"}
        )

    assert (opened.status_code, ended.status_code, after.status_code) == (200, 200, 404)


async def test_the_server_ends_although_clients_listen(tmp_path: Path, era: str) -> None:
    loop = asyncio.get_running_loop()
    async with live(live_settings(tmp_path), grace=60) as url:
        client = Client(f"{url}/mcp", mode=era)
        await client.__aenter__()
        if era != "legacy":
            listening = client.listen(tools_list_changed=True)
            await listening.__aenter__()
        await asyncio.sleep(0.3)  # a session of the older era opens its stream by itself
        ending = loop.time()
    took = loop.time() - ending

    assert took < 40  # those that listen would keep it for forty-eight seconds
    with contextlib.suppress(BaseException):  # whatever it says: its server is gone
        await client.__aexit__(None, None, None)


async def test_a_client_that_goes_away_in_the_modern_era_takes_its_call_with_it(
    tmp_path: Path,
) -> None:
    settings = live_settings(tmp_path, data=tmp_path / "data")
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "my__linger", "arguments": {}, "_meta": meta},
    }
    named = {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "my__linger",
    }
    async with live(settings) as url, patient(headers=HEADERS | named) as http:
        calling = asyncio.create_task(http.post(f"{url}/mcp", json=call))
        await begun(tmp_path)
        calling.cancel()

        async def is_recorded() -> bool:
            rows = (await http.get(f"{url}/history?tool=my__linger")).json()["calls"]
            return [row["status"] for row in rows] == ["cancelled"]

        await until(is_recorded)


@pytest.mark.timeout(60)
async def test_without_the_extra_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pegboard.errors import ConfigError

    def missing() -> None:
        raise ConfigError("Serving MCP needs the mcp package: pip install 'pegboard[mcp]'")

    monkeypatch.setattr(mcp_endpoint, "require_mcp_extra", missing)
    async with live(live_settings(tmp_path)) as url, patient() as http:
        answer = await http.post(f"{url}/mcp", json=INITIALIZE, headers=HEADERS)

    assert (answer.status_code, answer.json()["code"]) == (501, "extra_missing")
    assert "pip install 'pegboard[mcp]'" in answer.json()["detail"]
    require_mcp_extra()


async def test_an_application_of_its_own_serves_it_too(tmp_path: Path) -> None:
    board = Pegboard(settings=live_settings(tmp_path))
    app = create_app(board)
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", headers=HEADERS
        ) as http,
    ):
        opened = await http.post("/mcp", json=INITIALIZE)
        await app.state.mcp.close()
        closed = await http.post("/mcp", json=INITIALIZE)

    assert opened.status_code == 200
    assert (closed.status_code, closed.headers["retry-after"]) == (503, "1")
    told = closed.json()
    assert (told["code"], told["retryable"], told["retry_after"]) == ("unavailable", True, 1.0)


async def test_a_request_that_is_whole_only_when_the_server_has_ended_was_not_begun(
    tmp_path: Path,
) -> None:
    app = create_app(Pegboard(settings=live_settings(tmp_path)))
    reading, rest = asyncio.Event(), asyncio.Event()

    async def slowly() -> AsyncGenerator[bytes]:
        yield b"{"
        reading.set()
        await rest.wait()
        yield json.dumps(INITIALIZE)[1:].encode()

    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", headers=HEADERS
        ) as http,
    ):
        asking = asyncio.create_task(http.post("/mcp", content=slowly()))
        await reading.wait()
        await app.state.mcp.close(grace=0)
        rest.set()
        answer = await asking

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert (answer.json()["code"], answer.json()["retryable"]) == ("unavailable", True)
