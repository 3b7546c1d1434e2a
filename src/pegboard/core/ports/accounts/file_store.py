"""The file store port: files of people, and uploads that become files."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from pegboard.core.principal import Principal
from pegboard.errors import StorageQuotaExceeded

FileState = Literal["uploading", "ready", "deleting"]


class FilePart(Struct, frozen=True, kw_only=True):
    """A part of an upload, in a content of its own.

    Attributes:
        key: Of the content in the blob store.
        size: In bytes.
        digest: SHA-256, in hexadecimal.
    """

    key: str
    size: int
    digest: str


class FileRecord(Struct, frozen=True, kw_only=True):
    """A file, or an upload that becomes one under the same id.

    Attributes:
        id: Unique on a server.
        owner: Who stored it, as of `Principal.owner`.
        name: Without folders; only shown, never a path.
        size: In bytes; of an upload as it was announced.
        digest: SHA-256, in hexadecimal; of an upload as it was announced, or empty.
        media_type: By content, not by name; empty for an upload.
        purpose: What it is for, as `chat` or `knowledge`; empty for a file of its owner.
        organisation: The organisation that sees it too; empty for none.
        base: Of an upload, the knowledge base that it is for, as its client said; empty for none.
        path: Of an upload, what it will be called there, with its folders; empty for its name.
        state: Only a `ready` one is a file; what is `deleting` is there for nobody.
        parts: Of an upload, in order.
        blob: The key of its content; empty for an upload.
        holder: What the file belongs to, as `document:d_1`, and is deleted with; empty for nothing.
        created_at: Unix seconds.
        updated_at: Unix seconds of the last part or change.
        revision: Grows with each change.
    """

    id: str
    owner: str
    name: str
    size: int
    created_at: float
    updated_at: float
    digest: str = ""
    media_type: str = ""
    purpose: str = ""
    organisation: str = ""
    base: str = ""
    path: str = ""
    state: FileState = "uploading"
    parts: tuple[FilePart, ...] = ()
    blob: str = ""
    holder: str = ""
    revision: int = 1

    @property
    def offset(self) -> int:
        """How many bytes of an upload have arrived."""
        return sum(part.size for part in self.parts)

    def is_visible_to(self, principal: Principal) -> bool:
        """Whether a caller may read it: its owner, or a member of the organisation it is shared in.

        An upload is its owner's alone.
        """
        if self.owner == principal.owner:
            return self.state != "deleting"
        return self.state == "ready" and self.organisation in (principal.organisations - {""})


class FileQuota(Struct, frozen=True, kw_only=True):
    """How much one owner may store; 0 for no limit."""

    bytes: int = 0
    files: int = 0


class FileLimits(Struct, frozen=True, kw_only=True):
    """How large files may be.

    Attributes:
        quota: How much one owner may store.
        file_bytes: The largest file.
        part_bytes: The largest part of an upload.
    """

    quota: FileQuota
    file_bytes: int
    part_bytes: int


class FileUsage(Struct, frozen=True, kw_only=True):
    """How much one owner stores, uploads included."""

    bytes: int = 0
    files: int = 0


class FileQuery(Struct, frozen=True, kw_only=True):
    """Which files to list; empty means any.

    Attributes:
        principal: Whose files, those that are shared with the caller included.
        digest: SHA-256, in hexadecimal.
        limit: On a page.
        cursor: Of the page before; empty at first.
    """

    principal: Principal
    state: FileState = "ready"
    purpose: str = ""
    digest: str = ""
    limit: int = 50
    cursor: str = ""


class FilePage(Struct, frozen=True, kw_only=True):
    """Some files, the newest first, and the cursor of the next page; empty at the end."""

    files: Sequence[FileRecord]
    next_cursor: str = ""


class FileStore(Protocol):
    """Stores rows of files; their contents are elsewhere.

    Each method raises `Unavailable` when it cannot.
    """

    async def add(self, file: FileRecord, *, quota: FileQuota) -> None:
        """Add a file or an upload, unless its owner would have more than the quota then.

        Raises:
            StorageQuotaExceeded: The quota does not allow it; nothing is added.
        """
        ...

    async def get(self, id: str) -> FileRecord | None:  # noqa: A002 - it is known by its id
        """A file or an upload."""
        ...

    async def replace(self, file: FileRecord, *, quota: FileQuota | None = None) -> bool:
        """Store a change, if the revision before it is the stored one.

        Args:
            file: With the next revision.
            quota: To judge a changed size by; None where it does not grow.

        Returns:
            False if somebody else was first, or it is gone.

        Raises:
            StorageQuotaExceeded: The quota does not allow it; nothing is changed.
        """
        ...

    async def remove(self, id: str) -> bool:  # noqa: A002 - as above
        """Remove the row of a file or an upload; False when there is none."""
        ...

    async def list(self, query: FileQuery) -> FilePage:
        """One page of the files that a caller may see, or of its uploads."""
        ...

    async def usage(self, owner: str) -> FileUsage:
        """How much an owner stores."""
        ...

    async def list_idle(self, *, before: float, limit: int) -> Sequence[FileRecord]:
        """What is not ready and was changed last before a time, the oldest first."""
        ...


def check_quota(usage: FileUsage, file: FileRecord, quota: FileQuota) -> None:
    """Refuse a file that would be too much beside what its owner stores.

    Raises:
        StorageQuotaExceeded: It would.
    """
    if quota.files and usage.files + 1 > quota.files:
        raise StorageQuotaExceeded(
            f"You store {usage.files} of {quota.files} files: delete some first.",
            limit=quota.files,
            used=usage.files,
            unit="files",
        )
    if quota.bytes and usage.bytes + file.size > quota.bytes:
        raise StorageQuotaExceeded(
            f"A file of {file.size:,} bytes does not fit: you store {usage.bytes:,} of "
            f"{quota.bytes:,} bytes. Delete some first.",
            limit=quota.bytes,
            used=usage.bytes,
            unit="bytes",
        )
