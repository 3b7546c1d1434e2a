"""Uploads: files that arrive in parts, and go on where they were interrupted."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakValueDictionary

from pegboard.core.ports.accounts.file_store import FilePage, FilePart, FileQuery, FileRecord
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect
from pegboard.errors import InvalidRequest, RateLimited, Unavailable, UploadConflict
from pegboard.features.files.media_type import HEAD, find_media_type
from pegboard.features.files.names import check_name
from pegboard.features.files.parts import FileParts, folder_of, missing_file, new_id, new_key
from pegboard.features.key_limits import check_key, limit_keys

MAX_PARTS = 2_000
MAX_IDLE = 86_400.0
"""Seconds without a part after which an upload is deleted."""
MAX_WRITERS = 8
"""Parts that one caller may send to one server at once."""
_CHUNK = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUpload:
    """What is going to be uploaded.

    Attributes:
        name: Without folders.
        size: In bytes.
        digest: SHA-256, in hexadecimal; empty where it is not known.
        purpose: What it is for, as `chat` or `knowledge`; empty for a file of its owner.
        organisation: The organisation that will see it too; empty for none.
        base: The knowledge base that it is for; only returned, so that its client finds it again.
        path: What it will be called there, with its folders; only returned, too.
    """

    name: str
    size: int
    digest: str = ""
    purpose: str = ""
    organisation: str = ""
    base: str = ""
    path: str = ""


@limit_keys("files", reads=("find", "read"))
class Uploads:
    """Uploads of callers; another caller's upload is not there.

    ```python
    upload = await uploads.begin(NewUpload(name="a.pdf", size=9), principal=principal)
    upload = await uploads.append(upload.id, chunks, offset=upload.offset, principal=principal)
    file = await uploads.finish(upload.id, principal=principal)
    ```

    Args:
        parts: Rows and contents of files.
    """

    def __init__(self, parts: FileParts) -> None:
        self._parts = parts
        self._writers: Counter[str] = Counter()
        self._finishing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def begin(self, wanted: NewUpload, *, principal: Principal) -> FileRecord:
        """Make an upload; its size counts in the quota from now on.

        Raises:
            AccessDenied: The caller's key may not write, or it is not a member of the organisation.
            InvalidRequest: The name is none of a file.
            StorageQuotaExceeded: The file is too large, or the caller stores too much.
            Unavailable: There is no place for files.
        """
        parts = self._parts
        parts.check_size(wanted.size)
        parts.check_organisation(wanted.organisation, principal)
        parts.check_place()
        now = parts.now()
        upload = FileRecord(
            id=new_id(),
            owner=principal.owner,
            name=check_name(wanted.name),
            size=wanted.size,
            digest=wanted.digest,
            purpose=wanted.purpose,
            organisation=wanted.organisation,
            base=wanted.base,
            path=wanted.path,
            created_at=now,
            updated_at=now,
        )
        await parts.store.add(upload, quota=parts.limits.quota)
        return upload

    async def list(self, query: FileQuery) -> FilePage:
        """One page of the caller's uploads that are not finished.

        Raises:
            AccessDenied: The key of the caller may not read.
        """
        check_key(query.principal, "files", Effect.READ)
        return await self._parts.store.list(query)

    async def find(self, id: str, *, principal: Principal) -> FileRecord:  # noqa: A002 - it is known by its id
        """An upload of the caller; one that is finished is a file.

        Raises:
            FileMissing: It does not exist, or is not the caller's.
        """
        file = await self._parts.find(id, principal)
        if file.owner != principal.owner:
            raise missing_file(id)
        return file

    async def append(
        self,
        id: str,  # noqa: A002 - as above
        chunks: AsyncIterator[bytes],
        *,
        offset: int,
        digest: str = "",
        principal: Principal,
    ) -> FileRecord:
        """Add a part: all of it, or nothing.

        Args:
            id: Of the upload.
            chunks: The part.
            offset: Where it begins in the file.
            digest: SHA-256 of the part, in hexadecimal; empty where it is not known.
            principal: The caller.

        Raises:
            FileMissing: There is no such upload, or it was deleted meanwhile.
            UploadConflict: The part begins elsewhere, another writer was first, or it is not what
                its digest says; says where the upload goes on.
            InvalidRequest: It is longer than the rest of the file or a part may be, or there are
                too many parts.
            RateLimited: The caller sends too many parts at once.
        """
        upload = await self._find_open(id, principal)
        async with self._limit_writers(principal):
            return await self._append(upload, chunks, offset, digest, principal)

    async def _append(
        self,
        upload: FileRecord,
        chunks: AsyncIterator[bytes],
        offset: int,
        digest: str,
        principal: Principal,
    ) -> FileRecord:
        parts, id_ = self._parts, upload.id
        if offset != upload.offset:
            raise _conflict(upload, f"begins at {upload.offset}, not at {offset}")
        if len(upload.parts) >= MAX_PARTS:
            raise InvalidRequest(f"An upload has at most {MAX_PARTS} parts: send larger ones.")
        limit = min(parts.limits.part_bytes, upload.size - offset)
        try:
            stored = await parts.contents.put(new_key(id_), chunks, limit=limit)
        except Unavailable:
            await self._find_open(id_, principal)  # where it was deleted meanwhile, say so
            raise
        part = FilePart(key=stored.key, size=stored.size, digest=stored.digest)
        if digest not in {"", part.digest}:
            await parts.contents.delete(part.key)
            raise _conflict(upload, "is not what its digest says")
        changed = await parts.change(upload, parts=(*upload.parts, part)) if part.size else None
        if changed is not None:
            return changed
        await parts.contents.delete(part.key)
        now = await self._find_open(id_, principal)
        if not part.size:
            return now
        raise _conflict(now, f"was sent by two at once; the next one begins at {now.offset}")

    async def finish(self, id: str, *, principal: Principal) -> FileRecord:  # noqa: A002 - as above
        """Make a file of a complete upload; of one that is finished already it returns the file.

        Raises:
            FileMissing: There is no such upload.
            UploadConflict: Parts are missing; or the content is not what its digest says, and the
                upload begins again.
        """
        lock = self._finishing.setdefault(id, asyncio.Lock())
        async with lock:  # each copies the whole file: one after the other
            return await self._finish(id, principal)

    async def _finish(self, id: str, principal: Principal) -> FileRecord:  # noqa: A002 - as above
        parts = self._parts
        upload = await self.find(id, principal=principal)
        if upload.state == "ready":
            return upload
        _check_complete(upload)
        try:
            content = await self._join(upload)
            read = parts.contents.read(content.key, length=HEAD)
            head = b"".join([chunk async for chunk in read])
        except (FileNotFoundError, Unavailable):  # somebody else has finished or deleted it, or not
            return await self._find_finished(id, "", principal)
        if upload.digest not in {"", content.digest}:
            if await parts.change(upload, parts=()) is not None:
                for key in {content.key, *(part.key for part in upload.parts)}:
                    await parts.contents.delete(key)
            raise UploadConflict(
                "The content is not what its digest says: send it again from its beginning.",
                offset=0,
            )
        async with parts.record("store", upload, principal):
            file = await parts.change(
                upload,
                state="ready",
                parts=(),
                blob=content.key,
                digest=content.digest,
                media_type=find_media_type(head, upload.name),
            )
            if file is None:
                return await self._find_finished(id, content.key, principal)
        await parts.contents.delete_below(folder_of(id), keep=content.key)
        return file

    async def read(self, id: str, *, principal: Principal) -> AsyncGenerator[bytes]:  # noqa: A002 - as above
        """The content of an upload that is complete, while it is iterated; it stays an upload.

        Raises:
            FileMissing: There is no such upload, or it was deleted or finished meanwhile.
            UploadConflict: Parts are missing.
        """
        upload = await self._find_open(id, principal)
        _check_complete(upload)
        try:
            for part in upload.parts:
                async for chunk in self._parts.contents.read(part.key):
                    yield chunk
        except FileNotFoundError as error:
            raise missing_file(id) from error

    async def abandon(self, id: str, *, principal: Principal) -> None:  # noqa: A002 - as above
        """Delete an upload with what has arrived of it.

        Raises:
            FileMissing: There is no such upload, or it is finished.
        """
        await self._find_open(id, principal)
        await self._parts.discard(id)

    async def delete_idle(self, *, before: float) -> int:
        """Delete uploads without a part since then, and what deletions have left; their number."""
        parts, count = self._parts, 0
        while found := await parts.store.list_idle(before=before, limit=_CHUNK):
            for file in found:
                if file.state == "uploading" and not await parts.discard(file.id, expected=file):
                    continue  # it goes on
                await parts.contents.delete_below(folder_of(file.id))
                count += await parts.store.remove(file.id)
        return count

    @asynccontextmanager
    async def _limit_writers(self, principal: Principal) -> AsyncGenerator[None]:
        """Let one caller send few parts at once: each holds a request of the server for a while."""
        owner = principal.owner
        if self._writers[owner] >= MAX_WRITERS:
            raise RateLimited(
                f"You send {MAX_WRITERS} parts already: wait for one of them.",
                retry_after=1.0,
                nothing_done=True,
            )
        self._writers[owner] += 1
        try:
            yield
        finally:
            self._writers[owner] -= 1
            if not self._writers[owner]:
                del self._writers[owner]

    async def _find_open(self, id: str, principal: Principal) -> FileRecord:  # noqa: A002 - as above
        upload = await self.find(id, principal=principal)
        if upload.state != "uploading":
            raise missing_file(id)
        return upload

    async def _find_finished(self, id: str, key: str, principal: Principal) -> FileRecord:  # noqa: A002 - as above
        """The file that somebody else has made of the upload meanwhile."""
        file = await self.find(id, principal=principal)
        if key and file.blob != key:
            await self._parts.contents.delete(key)
        if file.state != "ready":
            raise Unavailable("The upload could not be finished now: try again.", nothing_done=True)
        return file

    async def _join(self, upload: FileRecord) -> FilePart:
        """One content of all parts."""
        if len(upload.parts) == 1:
            return upload.parts[0]
        contents = self._parts.contents

        async def read_all() -> AsyncIterator[bytes]:
            for part in upload.parts:
                async for chunk in contents.read(part.key):
                    yield chunk

        joined = await contents.put(new_key(upload.id), read_all(), limit=upload.size)
        return FilePart(key=joined.key, size=joined.size, digest=joined.digest)


def _check_complete(upload: FileRecord) -> None:
    if upload.offset != upload.size:
        raise UploadConflict(
            f"The upload has {upload.offset} of {upload.size} bytes: send the rest first.",
            offset=upload.offset,
        )


def _conflict(upload: FileRecord, reason: str) -> UploadConflict:
    return UploadConflict(f"The part {reason}.", offset=upload.offset)
