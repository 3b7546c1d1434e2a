"""Headers that do not fit are named, in both eras."""

from pathlib import Path

import pytest
from starlette.types import Scope
from tests.servers.http.live import live, live_settings, patient
from tests.servers.http.test_mcp_endpoint import HEADERS, INITIALIZE

from pegboard.servers.mcp.http.headers import from_now_on, unfit


def scope_of(method: str, **headers: str) -> Scope:
    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": method, "headers": given}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("version", [{}, {"MCP-Protocol-Version": "2026-07-28"}], ids=["", "new"])
@pytest.mark.parametrize(
    ("changed", "status", "named"),
    [
        ({"Accept": ""}, 406, "Accept"),
        ({"Accept": "application/json"}, 406, "Accept"),
        ({"Content-Type": "text/plain"}, 415, "Content-Type"),
        ({"Content-Type": "application/jsonx"}, 415, "Content-Type"),
        ({"Content-Encoding": "gzip"}, 415, "compressed"),
    ],
)
async def test_what_does_not_fit_is_named(
    tmp_path: Path, version: dict[str, str], changed: dict[str, str], status: int, named: str
) -> None:
    async with live(live_settings(tmp_path)) as url, patient() as http:
        answer = await http.post(f"{url}/mcp", headers=HEADERS | version | changed, json=INITIALIZE)

    told = answer.json()
    assert (answer.status_code, told["id"], told["error"]["code"]) == (status, None, -32600)
    assert named in told["error"]["message"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
async def test_where_there_are_no_sessions_only_post_is_possible(
    tmp_path: Path, method: str
) -> None:
    version = {"MCP-Protocol-Version": "2026-07-28"}
    async with live(live_settings(tmp_path)) as url, patient(headers=HEADERS) as http:
        answer = await http.request(method, f"{url}/mcp", headers=version)

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert "subscriptions/listen" in answer.json()["error"]["message"]


async def test_a_stream_that_would_go_on_from_an_event_begins_anew(tmp_path: Path) -> None:
    async with live(live_settings(tmp_path)) as url, patient(headers=HEADERS) as http:
        opened = await http.post(f"{url}/mcp", json=INITIALIZE)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "Last-Event-ID": "made-up"}
        async with http.stream("GET", f"{url}/mcp", headers=session) as stream:
            began = (stream.status_code, stream.headers["content-type"])

    assert began == (200, "text/event-stream")


def test_all_else_of_a_request_stays() -> None:
    scope = scope_of("GET", accept="text/event-stream", last_event_id="7")

    assert from_now_on(scope) == scope_of("GET", accept="text/event-stream")


@pytest.mark.parametrize(
    "scope",
    [
        scope_of("GET"),
        scope_of("DELETE", mcp_protocol_version="2025-11-25"),
        scope_of("POST", content_type="application/json; charset=utf-8", accept="*/*"),
        scope_of("POST", content_type="application/json", accept="application/*, text/*"),
    ],
)
def test_what_fits_passes(scope: Scope) -> None:
    assert unfit(scope) is None
