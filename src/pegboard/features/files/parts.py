"""What the services of files share: rows, contents, limits, and reports of changes."""

import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from msgspec import structs

from pegboard.core.event import BoardChanged
from pegboard.core.ports.accounts.blob_store import BlobStore
from pegboard.core.ports.accounts.file_store import FileLimits, FileRecord, FileStore
from pegboard.core.ports.audit_store import Prove
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, FileMissing, StorageQuotaExceeded, Unavailable
from pegboard.execution.audit_first import record_in_audit
from pegboard.execution.environment import CallEnvironment

_DONE = {"store": "stored", "delete": "deleted", "share": "shared"}
_TRIES = 5


class FileParts:
    """Rows and contents of files.

    Args:
        store: Stores the rows.
        contents: Stores the contents; None where servers share a database and nothing else.
        limits: The limits of now.
        environment: The clock and the listeners of now.
        prove: Writes each change to the audit trail before it takes effect, where required.
    """

    def __init__(
        self,
        store: FileStore,
        contents: BlobStore | None,
        *,
        limits: Callable[[], FileLimits],
        environment: Callable[[], CallEnvironment],
        prove: Prove,
    ) -> None:
        self.store = store
        self._contents = contents
        self._limits = limits
        self._environment = environment
        self._prove = prove

    @property
    def contents(self) -> BlobStore:
        """The contents.

        Raises:
            Unavailable: There is no place for them that all servers share.
        """
        if self._contents is None:
            raise Unavailable(
                "Servers that share a database need a place for files: set PEGBOARD_FILES to "
                "s3://BUCKET, or PEGBOARD_DATA to a directory that all of them have.",
                permanent=True,
                nothing_done=True,
            )
        return self._contents

    @property
    def limits(self) -> FileLimits:
        """The limits of now."""
        return self._limits()

    def now(self) -> float:
        """Unix seconds."""
        return self._environment().now()

    async def find(self, id: str, principal: Principal) -> FileRecord:  # noqa: A002 - it is known by its id
        """A file, or an upload of the caller.

        Raises:
            FileMissing: It does not exist, or the caller may not see it.
        """
        file = await self.store.get(id)
        if file is None or not file.is_visible_to(principal):
            raise missing_file(id)
        return file

    async def change(self, file: FileRecord, **changes: Any) -> FileRecord | None:
        """Change a row; None if somebody else was first."""
        changed = structs.replace(
            file, **changes, revision=file.revision + 1, updated_at=self.now()
        )
        return changed if await self.store.replace(changed) else None

    async def discard(self, id: str, *, expected: FileRecord | None = None) -> bool:  # noqa: A002 - as above
        """Delete a file or an upload with its contents, whoever has it.

        The row of an upload stays until it is idle, without a name: a part that still arrives is
        deleted with it then.

        Args:
            id: Of the file.
            expected: Only if it is still as it was found.
        """
        for _ in range(_TRIES):
            file = expected or await self.store.get(id)
            if file is None:
                return False
            hidden = await self.change(
                file, state="deleting", name="", digest="", parts=(), blob=""
            )
            if hidden is not None:
                await self.contents.delete_below(folder_of(id))
                if file.state == "ready":
                    await self.store.remove(id)
                return True
            if expected is not None:
                return False
        raise Unavailable("The file is being changed by others: try again.", nothing_done=True)

    def check_place(self) -> None:
        """Raise `Unavailable` where there is no place for contents."""
        _ = self.contents

    def check_size(self, size: int) -> None:
        """Refuse a file that is larger than any may be.

        Raises:
            StorageQuotaExceeded: It is.
        """
        most = self.limits.file_bytes
        if size > most:
            raise StorageQuotaExceeded(
                f"A file may have {most:,} bytes (PEGBOARD_MAX_FILE_BYTES).",
                limit=most,
                used=0,
                unit="bytes",
            )

    def check_organisation(self, organisation: str, principal: Principal) -> None:
        """Refuse to share a file with an organisation of others.

        Raises:
            AccessDenied: The caller is not a member of it.
        """
        if organisation and organisation not in principal.organisations:
            raise AccessDenied(organisation[:100], "the caller is not a member of it")

    @asynccontextmanager
    async def record(
        self, action: str, file: FileRecord, principal: Principal, **detail: Any
    ) -> AsyncGenerator[None]:
        """Make a change in the body, and report it; first to an audit trail that is required."""
        environment = self._environment()

        def change(action: str = action) -> BoardChanged:
            return BoardChanged(
                kind="file",
                action=action,
                at=environment.now(),
                subject=file.name,
                by=principal.id,
                tenant=principal.tenant,
                detail={"id": file.id, "size": file.size, **detail},
            )

        async with record_in_audit(self._prove, change, environment=environment):
            yield
        environment.emitter.emit(change(_DONE[action]))


def new_id() -> str:
    """The id of a new file."""
    return f"f_{secrets.token_hex(12)}"


def folder_of(id: str) -> str:  # noqa: A002 - as above
    """Where all contents of a file are, those of its parts included."""
    return f"{id[2:4]}/{id}"


def new_key(id: str) -> str:  # noqa: A002 - as above
    """The key of a new content of a file."""
    return f"{folder_of(id)}/{secrets.token_hex(8)}"


def missing_file(id: str) -> FileMissing:  # noqa: A002 - as above
    """The error for a file that is not there, or not for this caller."""
    return FileMissing(f"There is no file or upload '{id[:100]}'.")
