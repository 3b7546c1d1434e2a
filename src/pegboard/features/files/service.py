"""The `Files` service: files of people, listed, read, shared and deleted."""

from collections.abc import AsyncGenerator, AsyncIterator

from msgspec import structs

from pegboard.core.ports.accounts.file_store import (
    FileLimits,
    FilePage,
    FileQuery,
    FileRecord,
    FileUsage,
)
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect
from pegboard.errors import (
    AccessDenied,
    InvalidRequest,
    StorageQuotaExceeded,
    Unavailable,
)
from pegboard.features.files.media_type import HEAD, find_media_type
from pegboard.features.files.names import check_name
from pegboard.features.files.parts import FileParts, missing_file, new_id, new_key
from pegboard.features.files.uploads import Uploads
from pegboard.features.key_limits import check_key, limit_keys


@limit_keys("files", reads=("usage", "find", "open_complete"))
class Files:
    """Files that callers store, limited to those that the caller may see.

    ```python
    file = await board.files.store("note.txt", chunks, principal=LOCAL)
    async for chunk in board.files.read(file):
        ...
    ```

    Args:
        parts: Rows and contents of files.

    Attributes:
        uploads: Files that arrive in parts.
    """

    def __init__(self, parts: FileParts) -> None:
        self._parts = parts
        self.uploads = Uploads(parts)

    @property
    def limits(self) -> FileLimits:
        """How large files may be."""
        return self._parts.limits

    async def check_place(self) -> None:
        """Ask the place of the contents whether it can be used.

        Raises:
            Unavailable: It cannot; the cause says why.
        """
        await self._parts.contents.delete_below("check")  # there is nothing

    async def list(self, query: FileQuery) -> FilePage:
        """One page of the files that a caller may see, the newest first.

        Raises:
            InvalidRequest: The cursor is unknown.
            AccessDenied: The key of the caller may not read.
        """
        check_key(query.principal, "files", Effect.READ)
        return await self._parts.store.list(structs.replace(query, state="ready"))

    async def usage(self, *, principal: Principal) -> FileUsage:
        """How much the caller stores, uploads included."""
        return await self._parts.store.usage(principal.owner)

    async def find(self, id: str, *, principal: Principal) -> FileRecord:  # noqa: A002 - it is known by its id
        """A file; an upload that is not finished is none.

        Raises:
            FileMissing: It does not exist, or the caller may not see it.
        """
        file = await self._parts.find(id, principal)
        if file.state != "ready":
            raise missing_file(id)
        return file

    async def open_complete(
        self,
        id: str,  # noqa: A002 - as above
        *,
        principal: Principal,
    ) -> tuple[FileRecord, AsyncGenerator[bytes]]:
        """A file, or an upload of the caller that is complete, with its content.

        Raises:
            FileMissing: It does not exist, or the caller may not see it.
            UploadConflict: Parts of the upload are missing; raised by the iteration.
        """
        file = await self._parts.find(id, principal)
        if file.state == "uploading":
            return file, self.uploads.read(id, principal=principal)
        return file, self.read(file)

    async def read(
        self, file: FileRecord, *, start: int = 0, length: int | None = None
    ) -> AsyncGenerator[bytes]:
        """The content of a file, or a part of it, while it is iterated.

        Raises:
            FileMissing: It was deleted meanwhile.
        """
        try:
            async for chunk in self._parts.contents.read(file.blob, start=start, length=length):
                yield chunk
        except FileNotFoundError as error:
            raise missing_file(file.id) from error

    async def store(
        self,
        name: str,
        chunks: AsyncIterator[bytes],
        *,
        purpose: str = "",
        organisation: str = "",
        principal: Principal,
    ) -> FileRecord:
        """Store a content whose size is not known before; all of it, or nothing.

        Raises:
            AccessDenied: The caller's key may not write, or it is not a member of the organisation.
            InvalidRequest: The name is none of a file.
            StorageQuotaExceeded: It is too large, or the caller stores too much.
        """
        parts, now = self._parts, self._parts.now()
        parts.check_organisation(organisation, principal)
        contents, limits = parts.contents, parts.limits
        new = FileRecord(
            id=new_id(),
            owner=principal.owner,
            name=check_name(name),
            size=0,
            purpose=purpose,
            organisation=organisation,
            created_at=now,
            updated_at=now,
        )
        await parts.store.add(new, quota=limits.quota)
        taken = (await parts.store.usage(principal.owner)).bytes
        left = limits.quota.bytes - taken if limits.quota.bytes else limits.file_bytes
        head = _Head(chunks, most=min(left, limits.file_bytes), quota=limits.quota.bytes or left)
        try:
            blob = await contents.put(new_key(new.id), aiter(head), limit=limits.file_bytes)
            file = structs.replace(
                new,
                size=blob.size,
                digest=blob.digest,
                media_type=find_media_type(bytes(head.seen), name),
                state="ready",
                blob=blob.key,
                revision=new.revision + 1,
                updated_at=parts.now(),
            )
            async with parts.record("store", file, principal):
                is_stored = await parts.store.replace(file, quota=limits.quota)
        except BaseException:
            await parts.discard(new.id)
            raise
        if not is_stored:
            raise missing_file(new.id)
        return file

    async def share(
        self,
        id: str,  # noqa: A002 - as above
        organisation: str,
        *,
        principal: Principal,
    ) -> FileRecord:
        """Let the members of an organisation see a file; an empty one makes it private again.

        Raises:
            FileMissing: It does not exist, or the caller may not see it.
            AccessDenied: The caller is not its owner or not a member, or its key may not write.
        """
        file = await self._find_own(id, principal)
        self._parts.check_organisation(organisation, principal)
        async with self._parts.record("share", file, principal, organisation=organisation):
            changed = await self._parts.change(file, organisation=organisation)
            if changed is None:
                raise Unavailable("The file is being changed by others.", nothing_done=True)
        return changed

    async def delete(self, id: str, *, principal: Principal) -> None:  # noqa: A002 - as above
        """Delete a file with its content, for all who see it.

        Raises:
            FileMissing: It does not exist, or the caller may not see it.
            AccessDenied: The caller is not its owner, or its key may not write.
            InvalidRequest: It belongs to something else, and is deleted with that.
        """
        file = await self._find_own(id, principal)
        if file.holder:
            raise InvalidRequest(f"'{file.name}' belongs to {file.holder}: delete that instead.")
        async with self._parts.record("delete", file, principal):
            await self._parts.discard(file.id)

    async def hold(self, id: str, holder: str, *, principal: Principal) -> FileRecord:  # noqa: A002 - as above
        """Make one of the caller's files part of something else, with which it is deleted.

        An upload that is complete is finished first.

        Args:
            id: Of the file.
            holder: What it belongs to, as `document:d_1`.
            principal: The caller.

        Raises:
            FileMissing: It does not exist, or the caller may not see it.
            AccessDenied: The caller is not its owner, or its key may not write.
            InvalidRequest: It belongs to something else already.
            UploadConflict: It is an upload of which parts are missing.
        """
        if (await self._parts.find(id, principal)).state == "uploading":
            await self.uploads.finish(id, principal=principal)
        file = await self._find_own(id, principal)
        if file.holder == holder:
            return file
        held = None if file.holder else await self._parts.change(file, holder=holder)
        if held is None:
            raise InvalidRequest(f"'{file.name}' belongs to something else already.")
        return held

    async def discard(self, id: str) -> bool:  # noqa: A002 - as above
        """Delete the file of something that is deleted, whoever has stored it.

        Returns:
            False if it is not there.
        """
        return await self._parts.discard(id)

    async def _find_own(self, id: str, principal: Principal) -> FileRecord:  # noqa: A002 - as above
        file = await self.find(id, principal=principal)
        if file.owner != principal.owner:
            raise AccessDenied(file.name, "only its owner may change or delete it")
        return file


class _Head:
    """Passes chunks on, keeps the first bytes, and ends with an error when there are too many."""

    def __init__(self, chunks: AsyncIterator[bytes], *, most: int, quota: int) -> None:
        self.seen = bytearray()
        self._chunks = chunks
        self._most = most
        self._quota = quota

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._chunks:
            size += len(chunk)
            if size > self._most:
                raise StorageQuotaExceeded(
                    f"The file has more than the {self._most:,} bytes that it may have.",
                    limit=self._quota,
                    used=self._quota - self._most,
                    unit="bytes",
                )
            if len(self.seen) < HEAD:
                self.seen += chunk[: HEAD - len(self.seen)]
            yield chunk
