"""The blob store port: contents of files, by key."""

from collections.abc import AsyncIterator
from typing import Protocol

from msgspec import Struct


class StoredBlob(Struct, frozen=True, kw_only=True):
    """A content that is stored.

    Attributes:
        key: Where; made by the caller, never from a name that a person chose.
        size: In bytes.
        digest: SHA-256, in hexadecimal.
    """

    key: str
    size: int
    digest: str


class BlobStore(Protocol):
    """Stores contents of files: folders of the data directory, or an S3-compatible service.

    A key is names of letters, digits, `-` and `_`, joined by `/`.
    """

    async def put(self, key: str, chunks: AsyncIterator[bytes], /, *, limit: int) -> StoredBlob:
        """Store a content while it arrives, in place of the one before; all of it, or nothing.

        Raises:
            InvalidRequest: It is longer than `limit` bytes.
            Unavailable: A later try may help.
        """
        ...

    async def find(self, key: str, /) -> int | None:
        """The size of a content; None when there is none."""
        ...

    def read(
        self, key: str, /, *, start: int = 0, length: int | None = None
    ) -> AsyncIterator[bytes]:
        """A content, or a part of it, while it is iterated.

        Raises:
            FileNotFoundError: There is none.
            Unavailable: A later try may help.
        """
        ...

    async def delete(self, key: str, /) -> bool:
        """Delete a content for good; False when there is none."""
        ...

    async def delete_below(self, prefix: str, /, *, keep: str = "") -> None:
        """Delete all contents whose keys begin with `prefix/`, except that of the key `keep`.

        What an interrupted `put` has left there goes too.
        """
        ...

    async def close(self) -> None:
        """Release what it holds; called once, by the opener."""
        ...
