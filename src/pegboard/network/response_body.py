"""Reads a response's body up to a limit, decoding it as it comes."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

_PIECE = 256 * 1024
DECODED = frozenset({"gzip", "x-gzip", "deflate"})
ACCEPT_ENCODING = "gzip, deflate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What was read; `truncated` when there was more."""

    content: bytes
    truncated: bool


async def read_body(chunks: AsyncIterator[bytes], encoding: str, *, max_bytes: int) -> Body:
    """Read until the end or until more than `max_bytes` have come, on the wire or decoded.

    Both are counted, so that neither a small body that inflates without end nor a large one that
    decodes to nothing gets through. Memory stays near `max_bytes`, and other tasks run in between.

    Args:
        chunks: The body as it comes from the wire.
        encoding: `Content-Encoding`; what is not in `DECODED` is left as it is.
        max_bytes: How much to keep.

    Raises:
        ValueError: The body is not what its encoding says.
    """
    decoder = _Inflater(encoding) if encoding in DECODED else None
    content = bytearray()
    on_the_wire = 0
    async for chunk in chunks:
        on_the_wire += len(chunk)
        for piece in (chunk,) if decoder is None else decoder.pieces(chunk):
            content += piece
            if len(content) > max_bytes:
                return Body(content=bytes(content[:max_bytes]), truncated=True)
            if decoder is not None:
                await asyncio.sleep(0)
        if on_the_wire > max_bytes:
            return Body(content=bytes(content[:max_bytes]), truncated=True)
    if decoder is not None and on_the_wire and not decoder.complete:
        raise ValueError("the compressed body ends early")
    return Body(content=bytes(content), truncated=False)


async def decoded(chunks: AsyncIterator[bytes], encoding: str) -> AsyncIterator[bytes]:
    """The body as it comes, decoded piece by piece; whoever reads decides when to stop.

    Raises:
        ValueError: The body is not what its encoding says.
    """
    decoder = _Inflater(encoding) if encoding in DECODED else None
    touched = False
    async for chunk in chunks:
        touched = True
        for piece in (chunk,) if decoder is None else decoder.pieces(chunk):
            yield piece
    if decoder is not None and touched and not decoder.complete:
        raise ValueError("the compressed body ends early")


class _Inflater:
    """Gzip (several members too) and deflate, with or without the zlib wrapper."""

    def __init__(self, encoding: str) -> None:
        self._bits = zlib.MAX_WBITS if encoding == "deflate" else zlib.MAX_WBITS | 16
        self._inflate = zlib.decompressobj(self._bits)
        self._untouched = True

    @property
    def complete(self) -> bool:
        return self._inflate.eof

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What this much more input gives, a bounded piece at a time."""
        more = bool(data)
        while more:
            try:
                piece = self._inflate.decompress(data, _PIECE)
            except zlib.error as error:
                self._fall_back(error)
                continue
            self._untouched = False
            yield piece
            data = self._next_member() if self.complete else self._inflate.unconsumed_tail
            # A full piece may leave output behind although all input is taken.
            more = bool(data) or (len(piece) == _PIECE and not self.complete)

    def _fall_back(self, error: zlib.error) -> None:
        """Some servers say deflate and send it without the zlib wrapper (RFC 9110, 8.4.1.2)."""
        if not self._untouched or self._bits != zlib.MAX_WBITS:
            raise ValueError("the compressed body is damaged") from error
        self._bits = -zlib.MAX_WBITS
        self._inflate = zlib.decompressobj(self._bits)

    def _next_member(self) -> bytes:
        rest = self._inflate.unused_data
        if rest[:2] != b"\x1f\x8b" or self._bits != zlib.MAX_WBITS | 16:
            return b""  # padding after the end, which other clients ignore too
        self._inflate = zlib.decompressobj(self._bits)
        return rest
