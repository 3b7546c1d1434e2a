import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator

import brotlicffi
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.network.loopback import always, client_for, reply, serving

from pegboard.core.ports.http import HttpRequest
from pegboard.errors import Unavailable
from pegboard.network.response_body import ResponseBody, read_body


async def in_pieces(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


@given(data=st.binary(max_size=3000), size=st.integers(1, 400), limit=st.integers(0, 3000))
def test_pieces_do_not_matter(data: bytes, size: int, limit: int) -> None:
    plain = asyncio.run(read_body(in_pieces(data, size), "", max_bytes=limit))

    assert plain == ResponseBody(content=data[:limit], truncated=len(data) > limit)


@given(data=st.binary(max_size=3000), size=st.integers(1, 400))
def test_what_was_compressed_comes_back_in_any_pieces(data: bytes, size: int) -> None:
    raw = gzip.compress(data)

    found = asyncio.run(read_body(in_pieces(raw, size), "gzip", max_bytes=5000))

    assert found == ResponseBody(content=data, truncated=False)


@pytest.mark.parametrize(
    ("size", "limit", "truncated"), [(1000, 1000, False), (1001, 1000, True), (500_000, 10, True)]
)
async def test_reading_stops_at_max_bytes(size: int, limit: int, truncated: bool) -> None:
    async with serving(always(reply(b"x" * size))) as server, client_for(server) as client:
        response = await client.send(
            HttpRequest(method="GET", url=f"http://{server.authority}/", max_bytes=limit)
        )

    assert response.truncated is truncated
    assert len(response.content) == min(size, limit)


async def test_a_body_without_end_is_cut() -> None:
    async def endless(_, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x" * 10_000)
            await writer.drain()

    async with serving(endless) as server, client_for(server, max_bytes=100_000) as client:
        response = await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))

    assert (len(response.content), response.truncated) == (100_000, True)


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("GZip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data)[2:-4]),
        ("br", brotlicffi.compress),
    ],
    ids=["gzip", "x-gzip", "case", "zlib", "raw deflate", "brotli"],
)
async def test_a_compressed_body_is_decoded(encoding: str, encode) -> None:
    data = b"a long story, " * 50_000
    raw = reply(encode(data), headers={"Content-Encoding": encoding})

    async with serving(always(raw)) as server, client_for(server) as client:
        response = await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))

    assert response.content == data
    assert "content-encoding" not in response.headers
    assert "content-length" not in response.headers


@pytest.mark.parametrize(
    ("encoding", "bomb"),
    [
        ("gzip", gzip.compress(b"\0" * 50_000_000, 1)),
        ("deflate", zlib.compress(b"\0" * 50_000_000, 1)),
        ("br", brotlicffi.compress(b"\0" * 50_000_000, quality=1)),
    ],
    ids=["gzip", "deflate", "brotli"],
)
async def test_a_decompression_bomb_is_cut(encoding: str, bomb: bytes) -> None:
    raw = reply(bomb, headers={"Content-Encoding": encoding})

    async with serving(always(raw)) as server, client_for(server, max_bytes=100_000) as client:
        response = await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))

    assert (len(response.content), response.truncated) == (100_000, True)


async def test_a_compressed_body_that_decodes_to_nothing_is_cut() -> None:
    empty_blocks = b"\0\0\0\xff\xff" * 100_000
    raw = reply(empty_blocks, headers={"Content-Encoding": "deflate"})

    async with serving(always(raw)) as server, client_for(server, max_bytes=100_000) as client:
        response = await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))

    assert (response.content, response.truncated) == (b"", True)


@pytest.mark.parametrize("encoding", ["compress", "gzip, gzip", "gzip, br"])
async def test_an_encoding_that_is_not_decoded_is_left_as_it_is(encoding: str) -> None:
    raw = reply(b"\x0b\x02\x80hi\x03", headers={"Content-Encoding": encoding})

    async with serving(always(raw)) as server, client_for(server) as client:
        response = await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))

    assert response.content == b"\x0b\x02\x80hi\x03"
    assert response.headers["content-encoding"] == encoding


async def test_a_request_asks_for_what_can_be_decoded() -> None:
    async with serving(always(reply())) as server, client_for(server) as client:
        await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))

    assert server.requests[0].headers["accept-encoding"].startswith("gzip, deflate")


@pytest.mark.parametrize(
    "body",
    [
        b"not gzip at all",
        gzip.compress(b"x" * 100)[:-9],
        b"\x1f\x8b",
        gzip.compress(b"x" * 100) + gzip.compress(b"y" * 50),
    ],
    ids=["not gzip", "cut", "only the start", "two members"],
)
async def test_a_damaged_body_is_unavailable(body: bytes) -> None:
    raw = reply(body, headers={"Content-Encoding": "gzip"})

    async with serving(always(raw)) as server, client_for(server) as client:
        with pytest.raises(Unavailable, match="damaged"):
            await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))


async def test_a_head_request_has_no_body_to_decode() -> None:
    raw = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 500\r\n\r\n"

    async with serving(always(raw)) as server, client_for(server) as client:
        response = await client.send(HttpRequest(method="HEAD", url=f"http://{server.authority}/"))

    assert response.content == b""


async def test_a_cut_deflate_body_is_no_whole_one() -> None:
    whole = zlib.compress(bytes(range(256)) * 50)

    with pytest.raises(ValueError, match="ends early"):
        await read_body(in_pieces(whole[:100], 30), max_bytes=1_000_000, encoding="deflate")
