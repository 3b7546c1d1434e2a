"""An SSE server that says wrongly, or never, where messages go: told at once."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest
from tests.network.loopback import Received, serving
from tests.sources.mcp.opening import by_action, call_of, opened
from tests.sources.mcp.rogue import replies, rogue_sse

from pegboard.errors import MCPConnectionError
from pegboard.sources.mcp.transport.http_failures import Endpoint
from pegboard.sources.mcp.transport.sse_endpoint import EndpointCheck, endpoint_problem

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
HERE = "https://a.example/sse"


@pytest.mark.parametrize(
    "endpoint",
    ["/post?sessionId=1", "post", "https://a.example/other", "", "?session=2"],
)
def test_an_endpoint_of_the_same_origin_is_good(endpoint: str) -> None:
    assert endpoint_problem(HERE, endpoint) == ""


@pytest.mark.parametrize(
    ("endpoint", "reason"),
    [
        ("https://b.example/post?key=hush", "another origin (https://b.example)"),
        ("http://a.example/post", "another origin (http://a.example)"),
        ("https://a.example:8443/post", "another origin (https://a.example:8443)"),
        ("//b.example/post", "another origin (https://b.example)"),
        ("https://who:hush@a.example/post", "another origin (https://a.example)"),
        ("https://[/post", "no address"),
    ],
)
def test_another_origin_is_named_without_what_may_be_secret(endpoint: str, reason: str) -> None:
    found = endpoint_problem(HERE, endpoint)

    assert reason in found
    assert "hush" not in found


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("step", [1, 7, 1000])
async def test_the_library_reads_all_of_the_stream(end: str, step: int) -> None:
    text = (
        f": hello{end}event: note{end}data: //c{end}{end}event: endpoint{end}data:/post{end}{end}:"
    )
    stream = text.encode()

    assert await _passed([stream[at : at + step] for at in range(0, len(stream), step)]) == stream


async def test_what_names_no_endpoint_is_not_read_for_ever() -> None:
    with pytest.raises(httpx2.SSEError, match="named no endpoint"):
        await _passed([b": " + b"x" * 64_000, b"x" * 4_000, b"never read"])


async def _passed(chunks: list[bytes]) -> bytes:
    class Server(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            async def body() -> AsyncIterator[bytes]:
                for chunk in chunks:
                    yield chunk

            kind = {"content-type": "text/event-stream"}
            return httpx2.Response(200, headers=kind, content=body(), request=request)

    check = EndpointCheck(Server(), endpoint=Endpoint(name="it", url=HERE))
    response = await check.handle_async_request(httpx2.Request("GET", HERE))
    return await response.aread()


async def _told(*said: bytes, close: bool = False) -> str:
    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        assert received.method == "GET"
        for piece in said:
            writer.write(piece)
        if close:
            writer.close()

    async with serving(answer) as server:
        config = {"url": f"http://{server.authority}/sse", "transport": "sse"}
        async with opened({**config, "connect_timeout": 60}) as source, asyncio.timeout(40):
            with pytest.raises(MCPConnectionError) as caught:
                await source.tools()
    return str(caught.value)


async def test_a_server_that_names_another_origin_is_refused_at_once_with_the_reason() -> None:
    told = await _told(HEAD, b"event: endpoint\ndata: http://127.0.0.2:1/post\n\n")

    assert "names an endpoint on another origin (http://127.0.0.2:1)" in told
    assert "messages, and the credentials with them, go to the origin of http://127.0.0.1" in told


async def test_a_server_that_names_no_address_is_refused_at_once() -> None:
    assert "no address" in await _told(HEAD, b"event: endpoint\ndata: http://[/post\n\n")


async def test_a_server_that_breaks_off_before_it_names_an_endpoint_is_told_at_once() -> None:
    cut = HEAD.replace(b"\r\n\r\n", b"\r\nContent-Length: 999\r\n\r\n")

    assert "broke off its answer" in await _told(cut, b"event: end", close=True)


async def test_a_server_that_names_its_endpoint_is_spoken_to() -> None:
    async with rogue_sse(replies()) as config, opened(config) as source:
        tools = await by_action(source)
        assert (await tools["plain"].run({}, call_of())).text == "well"
