"""Counts and digests a content while it passes."""

from collections.abc import AsyncIterator
from hashlib import sha256

from pegboard.core.ports.accounts.blob_store import StoredBlob
from pegboard.errors import InvalidRequest


class DigestChunks:
    """Hands chunks on in blocks of a size that is worth a write, and limits how many bytes pass.

    Args:
        chunks: The content.
        limit: Bytes of the largest content.
        block: Bytes that are handed on at once, or a little more; only the last block is smaller.

    Attributes:
        has_failed: Whether the content itself has failed, and not what it is handed to.
    """

    def __init__(self, chunks: AsyncIterator[bytes], *, limit: int, block: int) -> None:
        self._chunks = chunks
        self._limit = limit
        self._block = block
        self._digest = sha256()
        self._size = 0
        self.has_failed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The blocks.

        Raises:
            InvalidRequest: The content is longer than the limit.
        """
        waiting = bytearray()
        async for chunk in self._take():
            waiting += chunk
            if len(waiting) >= self._block:
                yield self._pass(bytes(waiting))
                waiting.clear()
        if waiting:
            yield self._pass(bytes(waiting))

    async def _take(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._chunks:
                self._count(chunk)
                yield chunk
        except Exception:
            self.has_failed = True
            raise

    def to_blob(self, key: str) -> StoredBlob:
        """What has passed."""
        return StoredBlob(key=key, size=self._size, digest=self._digest.hexdigest())

    def _count(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._size > self._limit:
            raise InvalidRequest(f"The content has more than {self._limit} bytes.")

    def _pass(self, block: bytes) -> bytes:
        self._digest.update(block)
        return block
