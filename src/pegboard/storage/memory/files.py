"""Rows of files in memory."""

from collections.abc import Sequence
from itertools import count

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.pagination import check_page_size, decode_position, encode_cursor
from pegboard.core.ports.accounts.file_store import (
    FilePage,
    FileQuery,
    FileQuota,
    FileRecord,
    FileUsage,
    check_quota,
)


class MemoryFiles:
    """A `FileStore` in memory. Safe for several threads."""

    def __init__(self, gate: ClosableLock) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        self._gate = gate
        self._files: dict[str, FileRecord] = {}
        self._numbers: dict[str, int] = {}
        self._next = count(1)

    async def add(self, file: FileRecord, *, quota: FileQuota) -> None:
        with self._gate:
            check_quota(self._usage(file.owner), file, quota)
            self._files[file.id] = file
            self._numbers[file.id] = next(self._next)

    async def get(self, id: str) -> FileRecord | None:  # noqa: A002 - it is known by its id
        with self._gate:
            return self._files.get(id)

    async def replace(self, file: FileRecord, *, quota: FileQuota | None = None) -> bool:
        with self._gate:
            known = self._files.get(file.id)
            if known is None or known.revision != file.revision - 1:
                return False
            if quota is not None:
                check_quota(self._usage(file.owner, but=file.id), file, quota)
            self._files[file.id] = file
            return True

    async def remove(self, id: str) -> bool:  # noqa: A002 - as above
        with self._gate:
            self._numbers.pop(id, None)
            return self._files.pop(id, None) is not None

    async def list(self, query: FileQuery) -> FilePage:
        limit, last = check_page_size(query.limit), decode_position(query.cursor)
        with self._gate:
            found = [
                ((file.created_at, self._numbers[file.id]), file)
                for file in self._files.values()
                if file.is_visible_to(query.principal)
                and file.state == query.state
                and query.purpose in {"", file.purpose}
                and query.digest in {"", file.digest}
            ]
        found.sort(key=lambda item: item[0], reverse=True)
        rest = [item for item in found if last is None or item[0] < last]
        page = rest[:limit]
        return FilePage(
            files=[file for _, file in page],
            next_cursor=encode_cursor(*page[-1][0]) if len(rest) > limit else "",
        )

    async def usage(self, owner: str) -> FileUsage:
        with self._gate:
            return self._usage(owner)

    async def list_idle(self, *, before: float, limit: int) -> Sequence[FileRecord]:
        with self._gate:
            idle = [
                file
                for file in self._files.values()
                if file.state != "ready" and file.updated_at < before
            ]
        return sorted(idle, key=lambda file: file.updated_at)[:limit]

    def _usage(self, owner: str, *, but: str = "") -> FileUsage:
        sizes = [
            file.size
            for file in self._files.values()
            if file.owner == owner and file.state != "deleting" and file.id != but
        ]
        return FileUsage(bytes=sum(sizes), files=len(sizes))
