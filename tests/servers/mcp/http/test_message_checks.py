"""Malformed requests over HTTP: the SDK's own answers, and what it would leave unanswered."""

import json
from pathlib import Path

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message, Scope
from tests.servers.http.live import live, live_settings, patient
from tests.servers.http.test_mcp_endpoint import HEADERS, INITIALIZE

from pegboard.servers.mcp.http.message_checks import (
    buffer_body,
    error_response,
    without_last_event_id,
)

GONE: Message = {"type": "http.disconnect"}
NESTED = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": %s}}'
VERSIONS = pytest.mark.parametrize("version", ["", "2025-11-25", "2026-07-28"])


def named(version: str) -> dict[str, str]:
    return {"MCP-Protocol-Version": version} if version else {}


@pytest.mark.parametrize("number", [None, 7, "seven"])
def test_an_error_response_is_a_json_rpc_error_with_the_id_of_its_request(
    number: str | int | None,
) -> None:
    answer = error_response(429, -32600, "Later.", request_id=number)

    assert (answer.status_code, answer.media_type) == (429, "application/json")
    assert json.loads(bytes(answer.body)) == {
        "jsonrpc": "2.0",
        "id": number,
        "error": {"code": -32600, "message": "Later."},
    }


MALFORMED = {
    "text": b"no json",
    "nothing": b"",
    "bytes": b"\xff\xfe",
    "number": b"3",
    "batch": json.dumps([INITIALIZE, INITIALIZE]).encode(),
    "deep": b"[" * 100_000,
    "deep params": NESTED % (b"[" * 300 + b"]" * 300),
    "deeper params": NESTED % (b"[" * 5_000 + b"]" * 5_000),
    "digits": NESTED % (b"1" * 5_000),
    "surrogate": NESTED % b'"\\ud800"',
    "large id": b'{"jsonrpc": "2.0", "id": %s, "method": "ping"}' % (b"1" * 4_000),
    "no method": b'{"jsonrpc": "2.0", "id": 1, "method": 5}',
    "request and answer": b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}}',
}


@VERSIONS
@pytest.mark.parametrize("in_session", [True, False])
async def test_a_malformed_message_is_refused_and_is_no_fault_of_the_server(
    tmp_path: Path, version: str, in_session: bool
) -> None:
    answers: dict[str, tuple[int, int]] = {}
    async with live(live_settings(tmp_path)) as url, patient(headers=HEADERS) as http:
        for name, body in MALFORMED.items():
            opened = await http.post(f"{url}/mcp", json=INITIALIZE)
            session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]} if in_session else {}
            answer = await http.post(f"{url}/mcp", content=body, headers=session | named(version))
            answers[name] = (answer.status_code, opened.status_code)
        after = await http.post(f"{url}/mcp", json=INITIALIZE)

    assert after.status_code == 200
    assert {
        name: codes
        for name, codes in answers.items()
        if codes[0] not in {200, 202, 400} or codes[1] != 200
    } == {}


@VERSIONS
async def test_a_request_with_a_malformed_id_is_refused_and_not_taken_for_a_notification(
    tmp_path: Path, version: str
) -> None:
    answers: dict[str, tuple[int, str | None, int]] = {}
    async with live(live_settings(tmp_path)) as url, patient(headers=HEADERS) as http:
        for given in ("null", "1.5", "[1]", "{}", "true"):
            body = f'{{"jsonrpc": "2.0", "id": {given}, "method": "tools/list"}}'
            opened = await http.post(f"{url}/mcp", json=INITIALIZE)
            session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
            answer = await http.post(f"{url}/mcp", content=body, headers=session | named(version))
            error = answer.json()
            answers[given] = (answer.status_code, error["id"], error["error"]["code"])

    assert set(answers.values()) == {(400, None, -32600)}, answers


@VERSIONS
async def test_headers_that_do_not_fit_are_refused(tmp_path: Path, version: str) -> None:
    headers = HEADERS | named(version)
    codes: list[int] = []
    async with live(live_settings(tmp_path)) as url, patient() as http:
        for changed in (
            {"Accept": ""},
            {"Accept": "application/json"},
            {"Content-Type": "text/plain"},
            {"Content-Type": "application/jsonx"},
        ):
            answer = await http.post(f"{url}/mcp", headers=headers | changed, json=INITIALIZE)
            codes.append(answer.status_code)

    assert {code for code in codes if code not in {400, 406, 415}} == set(), codes


async def test_where_there_are_no_sessions_only_post_is_possible(tmp_path: Path) -> None:
    answers: list[tuple[int, str]] = []
    async with live(live_settings(tmp_path)) as url, patient(headers=HEADERS) as http:
        for method in ("GET", "DELETE", "PUT", "OPTIONS"):
            answer = await http.request(method, f"{url}/mcp", headers=named("2026-07-28"))
            answers.append((answer.status_code, answer.headers["allow"]))

    assert answers == [(405, "POST")] * 4


async def test_a_stream_that_would_resume_begins_anew(tmp_path: Path) -> None:
    async with live(live_settings(tmp_path)) as url, patient(headers=HEADERS) as http:
        opened = await http.post(f"{url}/mcp", json=INITIALIZE)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "Last-Event-ID": "made-up"}
        async with http.stream("GET", f"{url}/mcp", headers=session) as stream:
            began = (stream.status_code, stream.headers["content-type"])

    assert began == (200, "text/event-stream")


def test_all_else_of_a_request_stays() -> None:
    def scope_of(*headers: tuple[bytes, bytes]) -> Scope:
        return {"type": "http", "method": "GET", "headers": list(headers)}

    accept, last = (b"accept", b"text/event-stream"), (b"last-event-id", b"7")

    assert without_last_event_id(scope_of(accept, last)) == scope_of(accept)


def piece(body: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


@pytest.mark.parametrize(
    ("messages", "body"),
    [
        ([piece(b"abc", more=False)], b"abc"),
        ([piece(b"a", more=True), piece(b"bc", more=False)], b"abc"),
        ([piece(b"", more=False)], b""),
    ],
    ids=["one piece", "two pieces", "nothing"],
)
async def test_a_body_is_read_again_as_a_whole(messages: list[Message], body: bytes) -> None:
    coming = [*messages, GONE]

    async def receive() -> Message:
        return coming.pop(0)

    found, again = await buffer_body(receive)

    assert found == body
    assert [await again(), await again()] == [piece(body, more=False), GONE]


async def test_a_client_that_leaves_within_its_body_ends_the_request() -> None:
    coming = [piece(b"a", more=True), GONE]

    async def receive() -> Message:
        return coming.pop(0)

    with pytest.raises(ClientDisconnect):
        await buffer_body(receive)
