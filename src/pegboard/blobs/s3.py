"""Contents of files in a bucket of an S3-compatible service."""

from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pegboard.blobs.digest_chunks import DigestChunks
from pegboard.blobs.keys import check_key
from pegboard.core.ports.accounts.blob_store import StoredBlob
from pegboard.errors import ConfigError, Unavailable

if TYPE_CHECKING:
    from obstore.store import S3Store

_PART = 5 * 1024 * 1024
"""Bytes of a part of an object: the least that S3 allows."""
_TIMEOUT = "5 minutes"
"""Of one request, which carries one part."""
_AT_ONCE = 2
"""Parts of one content that are sent at once, and so are in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Access:
    """Where a bucket is, and how to use it.

    Attributes:
        bucket: Its name.
        prefix: What all keys begin with; empty for none.
        endpoint: The address of the service; empty for that of AWS.
        region: Empty for that of the environment.
        key_id: Empty for the credentials of the environment, as AWS's own tools find them.
        secret: Of `key_id`.
    """

    bucket: str
    prefix: str = ""
    endpoint: str = ""
    region: str = ""
    key_id: str = ""
    secret: str = field(default="", repr=False)


class S3Blobs:
    """Implements `BlobStore` in a bucket; nothing is connected before its first use.

    Args:
        access: The bucket.

    Raises:
        ConfigError: The extra `s3` is missing.
    """

    def __init__(self, access: S3Access) -> None:
        try:
            import obstore
        except ImportError as error:
            raise ConfigError("PEGBOARD_FILES: s3:// needs pip install 'pegboard[s3]'") from error
        self._obstore: Any = obstore  # whose overloads are not typed to the end
        self._access = access
        self._store: S3Store | None = None

    async def put(self, key: str, chunks: AsyncIterator[bytes], /, *, limit: int) -> StoredBlob:
        """Send a content in parts; it is there once the last one is."""
        passing = DigestChunks(chunks, limit=limit, block=_PART)
        with _translate_errors(passing):
            await self._obstore.put_async(
                self._open(),
                self._name(key),
                aiter(passing),
                chunk_size=_PART,
                max_concurrency=_AT_ONCE,
                use_multipart=True,
            )
        return passing.to_blob(key)

    async def find(self, key: str, /) -> int | None:
        """The size of a content."""
        with _translate_errors():
            try:
                found = await self._obstore.head_async(self._open(), self._name(key))
            except FileNotFoundError:
                return None
        return found["size"]

    async def read(
        self, key: str, /, *, start: int = 0, length: int | None = None
    ) -> AsyncGenerator[bytes]:
        """A content, or a part of it, while it is iterated."""
        size = await self.find(key)
        if size is None:
            raise FileNotFoundError(key)
        end = size if length is None else min(size, start + length)
        while start < end:  # a request for each block: none waits while a slow client reads
            following = min(start + _PART, end)
            block = await self._read_range(key, start, following)
            if block is None:  # it was deleted meanwhile
                raise FileNotFoundError(key)
            start = following
            yield block

    async def delete(self, key: str, /) -> bool:
        """Delete a content."""
        if await self.find(key) is None:
            return False
        with _translate_errors():
            await self._obstore.delete_async(self._open(), self._name(key))
        return True

    async def delete_below(self, prefix: str, /, *, keep: str = "") -> None:
        """Delete all contents below a key, except one."""
        kept = self._name(keep) if keep else ""
        with _translate_errors():
            async for page in self._obstore.list(self._open(), f"{self._name(prefix)}/"):
                names = [item["path"] for item in page if item["path"] != kept]
                if names:
                    await self._obstore.delete_async(self._open(), names)

    async def close(self) -> None:
        """Let go of the connections."""
        self._store = None

    async def _read_range(self, key: str, start: int, end: int) -> bytes | None:
        with _translate_errors():
            try:
                return bytes(
                    await self._obstore.get_range_async(
                        self._open(), self._name(key), start=start, end=end
                    )
                )
            except FileNotFoundError:
                return None

    def _name(self, key: str) -> str:
        prefix = self._access.prefix
        return f"{prefix}/{check_key(key)}" if prefix else check_key(key)

    def _open(self) -> "S3Store":
        if self._store is None:
            from obstore.store import S3Store

            access = self._access
            given = {
                "endpoint": access.endpoint,
                "region": access.region,
                "access_key_id": access.key_id,
                "secret_access_key": access.secret,
            }
            options: Any = {name: value for name, value in given.items() if value}
            self._store = S3Store(
                access.bucket,
                client_options={
                    "allow_http": access.endpoint.startswith("http://"),
                    "timeout": _TIMEOUT,
                },
                **options,
            )
        return self._store


@contextmanager
def _translate_errors(passing: DigestChunks | None = None) -> Generator[None]:
    """Name no bucket and no key to callers; the cause has what the service said.

    Args:
        passing: A content whose own errors are not those of the service.
    """
    from obstore.exceptions import BaseError

    try:
        yield
    except (BaseError, OSError) as error:
        if passing is not None and passing.has_failed:
            raise
        raise Unavailable("The files of the board cannot be reached.", retry_after=5.0) from error
