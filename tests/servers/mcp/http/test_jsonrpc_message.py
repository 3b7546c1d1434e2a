"""What is no message of JSON-RPC is told what it lacks, and a request is never left unanswered."""

from pathlib import Path
from typing import Any

import pytest
from tests.servers.http.live import live, live_settings, patient
from tests.servers.http.test_mcp_endpoint import HEADERS, INITIALIZE

from pegboard.servers.mcp.http.jsonrpc_message import (
    BATCH,
    ID,
    LONGEST_ID,
    NO_JSON,
    NO_OBJECT,
    NO_UTF8,
    TOO_DEEP,
    TOO_LONG_NUMBER,
    Fault,
    fault_of,
)


def head(rest: str) -> bytes:
    return f'{{"jsonrpc": "2.0", {rest}}}'.encode()


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("null", "null"),
        ("1.5", "a fraction"),
        ("1.0", "a fraction"),
        ("true", "a boolean"),
        ("[1]", "a list"),
        ("{}", "an object"),
        ("1" * (LONGEST_ID + 1), "so large a number"),
        (f'"{"x" * (LONGEST_ID + 1)}"', "so long a text"),
    ],
)
@pytest.mark.parametrize("method", ["ping", "notifications/initialized"])
def test_an_id_that_is_none_is_named(given: str, kind: str, method: str) -> None:
    found = fault_of(head(f'"id": {given}, "method": "{method}"'))

    assert found == Fault(code=-32600, message=f"{ID}, and not {kind}; a notification has none")


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (b"", -32700, NO_JSON),
        (b"{", -32700, NO_JSON),
        (b"[1, }", -32700, NO_JSON),
        (head('"id": NaN, "method": "ping"'), -32700, NO_JSON),
        (head('"id": "\\ud800", "method": "ping"'), -32700, NO_JSON),
        (b'{"jsonrpc": "2.0", "id": "\xff"}', -32700, NO_UTF8),
        (b"[" * 100_000, -32700, TOO_DEEP),
        (head(f'"id": {"[" * 100_000}'), -32700, TOO_DEEP),
        (head(f'"id": {"1" * 5_000}, "method": "ping"'), -32700, TOO_LONG_NUMBER),
        (b"3", -32600, NO_OBJECT),
        (b'"x"', -32600, NO_OBJECT),
        (b" [] ", -32600, BATCH),
        (b"{}", -32600, 'The message must say "jsonrpc": "2.0"'),
        (b'{"jsonrpc": 2.0}', -32600, 'The message must say "jsonrpc": "2.0"'),
        (head('"id": null, "result": {}'), -32600, f"{ID}; an answer has that of its request"),
        (head('"error": {}'), -32600, f"{ID}; an answer has that of its request"),
    ],
)
def test_what_cannot_be_read_is_answered_without_an_id(
    body: bytes, code: int, message: str
) -> None:
    assert fault_of(body) == Fault(code=code, message=message)


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ('"method": 5', "The method must be a text"),
        ('"method": null', "The method must be a text"),
        ('"method": "ping", "params": [1]', "The params of 'ping' must be an object"),
        ('"method": "ping", "params": "x"', "The params of 'ping' must be an object"),
        ('"params": {}', "The message has no method, and neither a result nor an error"),
        ('"result": {}, "error": {}', "An answer has a result or an error, not both"),
        ('"result": 3', "The result or error of an answer must be an object"),
        ('"error": null', "The result or error of an answer must be an object"),
        ('"result": null, "error": null', "The result or error of an answer must be an object"),
        ('"method": null, "result": null', "The method must be a text"),
        (
            '"method": "ping", "error": {"code": 1, "message": "x"}',
            "A message has a method, or else a result or an error, and not both",
        ),
    ],
)
@pytest.mark.parametrize(("given", "read"), [("7", 7), ('"a"', "a"), ("-1", -1)])
def test_what_is_wrong_beside_the_id_is_answered_under_it(
    rest: str, message: str, given: str, read: Any
) -> None:
    found = fault_of(head(f'"id": {given}, {rest}'))

    assert found == Fault(code=-32600, message=message, request_id=read)


@pytest.mark.parametrize(
    "rest",
    [
        '"id": 1, "method": "ping"',
        '"id": "", "method": "ping", "params": null',
        '"id": 1, "id": 2, "method": "ping", "params": {"a": [1.5e300, "\\u0000"]}',
        '"method": "notifications/initialized"',
        '"id": 1, "result": {}',
        '"id": null, "error": {"code": 1, "message": "x"}',
        '"id": 123456789012345678901234567890, "method": "ping"',
        '"id": 1, "method": "ping", "params": null, "result": null, "error": null',
        '"method": "notifications/initialized", "result": null, "error": null',
        '"id": 1, "result": {}, "error": null',
        '"id": 1, "result": null, "error": {"code": 1, "message": "x"}',
        '"id": null, "result": null, "error": {"code": 1, "message": "x"}',
        '"id": 1, "method": null, "params": null, "result": {}, "error": null',
    ],
)
def test_a_message_passes(rest: str) -> None:
    assert fault_of(head(rest)) is None


@pytest.mark.parametrize("given", ["null", "1.5", "[1]", "{}", "true"])
@pytest.mark.parametrize("version", ["", "2025-11-25", "2026-07-28"])
async def test_a_request_whose_id_is_none_is_refused_over_http_and_not_taken_in_silence(
    tmp_path: Path, given: str, version: str
) -> None:
    body = head(f'"id": {given}, "method": "tools/list"')
    async with live(live_settings(tmp_path)) as url, patient(headers=HEADERS) as http:
        opened = await http.post(f"{url}/mcp", json=INITIALIZE)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        named = {"MCP-Protocol-Version": version} if version else {}
        answer = await http.post(f"{url}/mcp", content=body, headers=session | named)

    told = answer.json()
    assert (answer.status_code, told["id"], told["error"]["code"]) == (400, None, -32600)
    assert told["error"]["message"].startswith(ID)
