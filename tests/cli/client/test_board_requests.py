"""Requests to a server: what is sent, and what its answers become."""

from typing import Any

import httpx2
import pytest

from pegboard.cli.client.board_requests import BoardRequests
from pegboard.errors import PegboardError, ToolNotFound, Unavailable

URL = "http://127.0.0.1:1"
MISSING = {
    "type": "urn:pegboard:error:tool_not_found",
    "status": 404,
    "code": "tool_not_found",
    "detail": "There is no tool 'x'.",
}


def requests(*answers: httpx2.Response) -> tuple[BoardRequests, list[httpx2.Request]]:
    """Requests to a server that answers so, and what it was sent."""
    left = list(answers)
    sent: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return left.pop(0)

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer), base_url=URL)
    return BoardRequests(client, URL), sent


async def test_what_is_not_given_is_not_sent() -> None:
    server, sent = requests(
        httpx2.Response(200, json={"a": 1}), httpx2.Response(200, json={"b": 2})
    )

    got = await server._get("/tools", q="x", tag=["a", "b"], source="", cursor=None)
    made = await server._post("/execute", {"name": "x"}, key="k")

    assert (got, made) == ({"a": 1}, {"b": 2})
    assert str(sent[0].url) == f"{URL}/tools?q=x&tag=a&tag=b"
    assert (sent[1].headers["Idempotency-Key"], sent[1].content) == ("k", b'{"name":"x"}')


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (httpx2.Response(404, json=MISSING), ToolNotFound),
        (httpx2.Response(200, text="<html>"), PegboardError),
        (httpx2.Response(502, text="<html>"), PegboardError),
    ],
    ids=["a problem", "no JSON", "of a proxy"],
)
async def test_any_other_answer_is_an_error(answer: Any, kind: type[PegboardError]) -> None:
    server, _ = requests(answer)

    with pytest.raises(kind):
        await server._get("/tools/x")


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    async with httpx2.AsyncClient(base_url=URL) as client:
        with pytest.raises(Unavailable, match=f"The server at {URL} cannot be reached"):
            await BoardRequests(client, URL)._get("/tools")
