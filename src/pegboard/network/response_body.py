"""Reads a response's body up to a limit, decoded by httpx2 as it comes."""

import asyncio
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache

_ZLIB_METHOD = 8
"""The compression method in the first byte of a zlib stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseBody:
    """The content that was read; `truncated` when there was more."""

    content: bytes
    truncated: bool


class _WireLimitReached(Exception):
    """More bytes have come over the wire than may be read."""


@cache
def accept_encoding() -> str:
    """The `Accept-Encoding` header: the codings that httpx2 decodes here.

    These are `gzip` and `deflate`, and `br` and `zstd` where their libraries are installed.
    """
    import httpx2

    client = httpx2.AsyncClient(transport=httpx2.AsyncBaseTransport(), trust_env=False)
    return client.headers["accept-encoding"]


def can_decode(encoding: str) -> bool:
    """Whether a body with this `Content-Encoding` is decoded.

    A list of codings is not: a few bytes that expand at each of several codings would keep the
    event loop busy for minutes before the first decoded byte can be counted.
    """
    return _standard_name(encoding) in accept_encoding().split(", ")


async def read_body(chunks: AsyncIterator[bytes], encoding: str, *, max_bytes: int) -> ResponseBody:
    """Read to the end, or until more than `max_bytes` have come over the wire or were decoded.

    Both are counted: a small body may expand without end, and a large one may decode to nothing.
    Memory stays near `max_bytes`, and other tasks run between the pieces.

    Args:
        chunks: The body as it comes from the wire.
        encoding: `Content-Encoding` in lower case; a body that `can_decode` does not know is
            left as it is.
        max_bytes: How many bytes to keep.

    Raises:
        ValueError: The body is not encoded as `encoding` states.
    """
    content = bytearray()
    try:
        async with aclosing(decode(_limit(chunks, max_bytes), encoding)) as pieces:
            async for piece in pieces:
                content += piece
                if len(content) > max_bytes:
                    return ResponseBody(content=bytes(content[:max_bytes]), truncated=True)
                if encoding:
                    await asyncio.sleep(0)
    except _WireLimitReached:
        return ResponseBody(content=bytes(content), truncated=True)
    return ResponseBody(content=bytes(content), truncated=False)


async def decode(chunks: AsyncIterator[bytes], encoding: str) -> AsyncGenerator[bytes]:
    """Decode a body as it comes, in pieces of at most 1 MB; the reader bounds the whole.

    Raises:
        ValueError: The body is not encoded as `encoding` states.
    """
    if not can_decode(encoding):
        async for chunk in chunks:
            yield chunk
        return
    import httpx2

    coding = _standard_name(encoding)
    header = trailer = b""
    size, checksum = 0, 1

    async def wire() -> AsyncIterator[bytes]:
        nonlocal header, trailer
        async for chunk in chunks:
            header = header or chunk[:1]
            trailer = (trailer + chunk[-4:])[-4:]
            yield chunk

    response = httpx2.Response(200, headers={"content-encoding": coding}, content=wire())
    try:
        async with aclosing(response.aiter_bytes()) as pieces:
            async for piece in pieces:
                size += len(piece)
                checksum = zlib.adler32(piece, checksum) if coding == "deflate" else checksum
                yield piece
    except httpx2.DecodingError as error:
        raise ValueError("it cannot be decompressed") from error
    # httpx2 ignores a missing end and everything after a first gzip member. The last four bytes
    # hold the length of the last member (RFC 1952, 2.3.1), so a loss is reported.
    if coding == "gzip" and trailer and int.from_bytes(trailer, "little") != size & 0xFFFFFFFF:
        raise ValueError("its length differs from the one at the end of its gzip data")
    # A zlib stream ends with the Adler-32 of its content (RFC 1950, 2.2); raw deflate with nothing.
    is_zlib = coding == "deflate" and header[:1] and header[0] & 0x0F == _ZLIB_METHOD
    if is_zlib and int.from_bytes(trailer, "big") != checksum:
        raise ValueError("the compressed body ends early")


def _standard_name(encoding: str) -> str:
    """`x-gzip` means `gzip` (RFC 9110, 8.4.1.3)."""
    return "gzip" if encoding == "x-gzip" else encoding


async def _limit(chunks: AsyncIterator[bytes], max_bytes: int) -> AsyncIterator[bytes]:
    total = 0
    async for chunk in chunks:
        yield chunk
        total += len(chunk)
        if total > max_bytes:
            raise _WireLimitReached
