"""What is no message of JSON-RPC, said in short words."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message
from tests.servers.http.live import live, live_settings, patient
from tests.servers.http.test_mcp_endpoint import HEADERS, INITIALIZE

from pegboard.servers.mcp.http.jsonrpc_message import (
    BATCH,
    NO_JSON,
    NO_OBJECT,
    TOO_DEEP,
    TOO_LONG_NUMBER,
)
from pegboard.servers.mcp.http.parse_errors import NO_MESSAGE, readable

NESTED = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": %s}}'
PARSE = {"code": -32700, "message": NO_JSON}
DEEP = {"code": -32700, "message": TOO_DEEP}


@pytest.mark.parametrize("version", [None, "2025-11-25"])
@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"no json", PARSE),
        (b"", PARSE),
        (b"\xff\xfe", PARSE),
        (b"[" * 100_000, DEEP),
        (NESTED % (b"[" * 300 + b"]" * 300), DEEP),
        (NESTED % (b"1" * 5_000), {"code": -32700, "message": TOO_LONG_NUMBER}),
        (b"3", {"code": -32600, "message": NO_OBJECT}),
        (json.dumps([INITIALIZE, INITIALIZE]).encode(), {"code": -32600, "message": BATCH}),
    ],
    ids=["text", "nothing", "bytes", "deep", "deep params", "digits", "number", "batch"],
)
async def test_what_is_no_message_is_answered_in_one_short_sentence(
    tmp_path: Path, version: str | None, body: bytes, error: dict[str, Any]
) -> None:
    headers = HEADERS | ({"MCP-Protocol-Version": version} if version else {})
    async with live(live_settings(tmp_path)) as url, patient(headers=headers) as http:
        answer = await http.post(f"{url}/mcp", content=body)

    assert (answer.status_code, answer.json()) == (
        400,
        {"jsonrpc": "2.0", "id": None, "error": error},
    )


async def sent(status: int, *parts: bytes) -> list[Message]:
    """What goes on to the client."""
    gone: list[Message] = []

    async def send(message: Message) -> None:
        gone.append(message)

    way = readable(send)
    await way({"type": "http.response.start", "status": status, "headers": []})
    for number, part in enumerate(parts, start=1):
        more = number < len(parts)
        await way({"type": "http.response.body", "body": part, "more_body": more})
    return gone


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b'{"error": {"message": "Parse error: x"}}'),
        (404, b'{"error": {"message": "Parse error: x"}}'),
        (400, b'{"error": {"message": "Bad Request: Missing session ID"}}'),
        (400, b'{"error": "Parse error: x"}'),
        (400, b"[]"),
        (400, b"no json"),
        (400, b""),
    ],
)
async def test_every_other_answer_passes_as_it_is(status: int, body: bytes) -> None:
    gone = await sent(status, body)

    assert [item["type"] for item in gone] == ["http.response.start", "http.response.body"]
    assert gone[0]["headers"] == []
    assert gone[1]["body"] == body


async def test_the_length_is_that_of_the_new_body() -> None:
    start, body = await sent(400, b'{"error": {"message": "Parse error: line 1 column 9"}}')

    assert start["headers"] == [(b"content-length", str(len(body["body"])).encode())]
    assert json.loads(body["body"]) == {"jsonrpc": "2.0", "id": None, "error": PARSE}


async def test_what_the_sdk_finds_more_than_we_do_is_told_in_a_sentence_too() -> None:
    _, body = await sent(400, b'{"error": {"message": "Validation error: 4 errors for ..."}}')

    assert json.loads(body["body"])["error"] == {"code": -32600, "message": NO_MESSAGE}
