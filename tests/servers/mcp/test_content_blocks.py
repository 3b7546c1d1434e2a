"""Stored results as resources."""

from typing import Any

import pytest

from pegboard.core.ports.call_stores import StoredResult
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AccessDenied, HandleNotFound
from pegboard.runtime import Pegboard
from pegboard.servers.mcp.content_blocks import read_stored_result

HANDLE = "pegboard://results/abc"


async def put(board: Pegboard, body: bytes, media_type: str) -> None:
    await board.registry.environment.results.put(
        StoredResult(
            handle=HANDLE,
            owner="/local",
            media_type=media_type,
            body=body,
            created_at=0,
            expires_at=2**40,
        )
    )


@pytest.mark.parametrize(
    ("body", "media_type", "contents"),
    [
        (b"[1]", "application/json", {"text": "[1]"}),
        (b"a,b", "text/csv", {"text": "a,b"}),
        (b"\xff", "text/plain", {"blob": "/w=="}),
        (b"\x89PNG", "image/png", {"blob": "iVBORw=="}),
    ],
    ids=["JSON", "text", "no text after all", "picture"],
)
async def test_a_result_is_text_where_it_is_and_bytes_otherwise(
    board: Pegboard, body: bytes, media_type: str, contents: Any
) -> None:
    await put(board, body, media_type)

    found = await read_stored_result(board, HANDLE, LOCAL)

    assert found == {"uri": HANDLE, "mimeType": media_type, **contents}


async def test_a_result_is_its_owners_alone(board: Pegboard) -> None:
    await put(board, b"[1]", "application/json")

    with pytest.raises(HandleNotFound):
        await read_stored_result(board, HANDLE, Principal(id="eve"))


async def test_a_key_for_something_else_reads_no_result(board: Pegboard) -> None:
    await put(board, b"[1]", "application/json")
    auditor = Principal(id="local", user="local", key="k_1", scopes=frozenset({"audit:read"}))

    with pytest.raises(AccessDenied, match="tools:read"):
        await read_stored_result(board, HANDLE, auditor)
