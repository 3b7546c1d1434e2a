"""Requests of a provider's client through the guarded client."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2
import pytest
from tests.models.made import a_provider

from pegboard.core.ports.http import HttpRequest, HttpResponse, HttpStream
from pegboard.models.provider_transport import ProviderTransport
from pegboard.network import GuardedClient, SsrfPolicy


async def test_a_request_passes_the_guard_and_is_answered() -> None:
    guarded = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    async with a_provider() as provider:
        transport = ProviderTransport(guarded, upstream="m")
        async with httpx2.AsyncClient(transport=transport) as client:
            answer = await client.get(f"{provider.url}/models")
    await guarded.close()

    assert answer.json()["data"] == [{"id": "tiny-1"}]


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://169.254.169.254/latest", httpx2.UnsupportedProtocol),
        ("http://127.0.0.1:9/", httpx2.ConnectError),
    ],
    ids=["refused", "nobody there"],
)
async def test_what_cannot_be_sent_is_an_error_of_the_client(
    url: str, error: type[Exception]
) -> None:
    guarded = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    async with httpx2.AsyncClient(transport=ProviderTransport(guarded, upstream="m")) as client:
        with pytest.raises(error):
            await client.get(url)
    await guarded.close()


class Scripted:
    """A client whose answer is a stream of events."""

    def __init__(self, *chunks: bytes, kind: str = "text/event-stream; charset=utf-8") -> None:
        self._chunks = chunks
        self._kind = kind

    async def send(self, request: HttpRequest) -> HttpResponse:
        raise NotImplementedError

    async def close(self) -> None:
        pass

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncGenerator[HttpStream]:
        async def read() -> AsyncGenerator[bytes]:
            for chunk in self._chunks:
                yield chunk

        yield HttpStream(
            status=200, url=request.url, headers={"content-type": self._kind}, chunks=read()
        )


async def read(scripted: Scripted) -> bytes:
    transport = ProviderTransport(scripted, upstream="m")
    async with httpx2.AsyncClient(transport=transport) as client:
        return (await client.get("https://models.example/v1")).content


@pytest.mark.parametrize(
    "chunks",
    [
        (b'data: {"finish_reason": null}\n\ndata: [DO', b"NE]\n\n"),
        (b"data:[DONE]\r\n\r\n",),
        (b'data: {"finish_reason"', b':"length"}\n\n'),
        (b'event: message_delta\ndata: {"delta": {"stop_reason": "end_turn"}}\n\n',),
        (b"event: message_stop\n\n",),
    ],
    ids=["in pieces", "without a space", "finish reason", "stop reason", "message_stop"],
)
async def test_a_stream_of_events_that_has_an_end_is_read(chunks: tuple[bytes, ...]) -> None:
    assert await read(Scripted(*chunks)) == b"".join(chunks)


@pytest.mark.parametrize(
    "chunks",
    [
        (),
        (b'data: {"delta": {"content": "a"}, "finish_reason": null}\n\n',),
        (b'event: message_start\ndata: {"stop_reason":null}\n\n',),
        (b'data: {"content": "\\"finish_reason\\": \\"stop\\" data: [DONE]"}\n\n',),
    ],
    ids=["nothing", "OpenAI", "Anthropic", "an end only in the text"],
)
async def test_a_stream_of_events_without_an_end_was_cut(chunks: tuple[bytes, ...]) -> None:
    with pytest.raises(httpx2.ReadError, match="before its end"):
        await read(Scripted(*chunks))


async def test_other_bodies_end_as_they_like() -> None:
    assert await read(Scripted(b"{}", kind="application/json")) == b"{}"
