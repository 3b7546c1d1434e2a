"""A body that is read once can be read again."""

import pytest
from starlette.types import Message

from pegboard.servers.mcp.whole import buffer_body

GONE: Message = {"type": "http.disconnect"}


def piece(body: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


@pytest.mark.parametrize(
    ("messages", "body", "first"),
    [
        ([piece(b"abc", more=False)], b"abc", piece(b"abc", more=False)),
        ([piece(b"a", more=True), piece(b"bc", more=False)], b"abc", piece(b"abc", more=False)),
        ([piece(b"", more=False)], b"", piece(b"", more=False)),
        ([piece(b"a", more=True), GONE], None, GONE),
    ],
    ids=["one piece", "two pieces", "nothing", "left in the middle"],
)
async def test_it_is_handed_on_whole(
    messages: list[Message], body: bytes | None, first: Message
) -> None:
    coming = [*messages, GONE]

    async def receive() -> Message:
        return coming.pop(0)

    found, again = await buffer_body(receive)

    assert found == body
    assert [await again(), await again()] == [first, GONE]
