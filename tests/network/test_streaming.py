import asyncio
import gzip

import pytest
from tests.network.loopback import Received, always, client_for, serving

from pegboard.core.ports.http import HttpClient, HttpRequest
from pegboard.errors import InvalidRequest, Unavailable


async def test_a_body_is_read_as_it_comes() -> None:
    raw = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 6\r\n\r\nab\n\ncd"
    async with serving(always(raw)) as server, client_for(server) as client:
        port: HttpClient = client
        request = HttpRequest(method="GET", url=f"http://{server.authority}/s")
        async with port.stream(request) as stream:
            body = b"".join([chunk async for chunk in stream.chunks])

    assert (stream.status, stream.headers["content-type"]) == (200, "text/event-stream")
    assert body == b"ab\n\ncd"


async def test_a_compressed_body_is_decoded_on_its_way() -> None:
    packed = gzip.compress(b"hello" * 100)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n"
    async with serving(always(head.encode() + packed)) as server, client_for(server) as client:
        request = HttpRequest(method="GET", url=f"http://{server.authority}/")
        async with client.stream(request) as stream:
            body = b"".join([chunk async for chunk in stream.chunks])

    assert body == b"hello" * 100


async def test_a_compressed_body_that_ends_early_is_told() -> None:
    packed = gzip.compress(b"hello" * 100)[:-9]
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n"
    async with serving(always(head.encode() + packed)) as server, client_for(server) as client:
        request = HttpRequest(method="GET", url=f"http://{server.authority}/")
        async with client.stream(request) as stream:
            with pytest.raises(Unavailable, match="damaged body: its length differs"):
                _ = [chunk async for chunk in stream.chunks]


async def _breaks_off(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nab")
    await writer.drain()
    writer.close()


async def _silent(_: Received, __: asyncio.StreamWriter) -> None:
    await asyncio.sleep(1)


async def test_a_connection_that_breaks_in_the_body_is_unavailable() -> None:
    async with serving(_breaks_off) as server, client_for(server) as client:
        request = HttpRequest(method="GET", url=f"http://{server.authority}/")
        async with client.stream(request) as stream:
            with pytest.raises(Unavailable, match="broke off before the end"):
                _ = [chunk async for chunk in stream.chunks]


async def test_a_redirect_is_followed_and_checked() -> None:
    raw = b"HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/\r\nContent-Length: 0\r\n\r\n"
    async with serving(always(raw)) as server, client_for(server) as client:
        request = HttpRequest(method="GET", url=f"http://{server.authority}/")
        with pytest.raises(InvalidRequest, match=r"10\.0\.0\.1"):
            async with client.stream(request):
                pass


async def test_endless_redirects_end() -> None:
    raw = b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n"
    async with serving(always(raw)) as server, client_for(server) as client:
        request = HttpRequest(method="GET", url=f"http://{server.authority}/")
        with pytest.raises(InvalidRequest, match="redirects more than 10 times"):
            async with client.stream(request):
                pass


async def test_a_head_that_does_not_come_is_unavailable() -> None:
    async with serving(_silent) as server, client_for(server) as client:
        request = HttpRequest(method="GET", url=f"http://{server.authority}/", timeout=0.1)
        with pytest.raises(Unavailable, match=r"did not answer within 0\.1 s"):
            async with client.stream(request):
                pass
