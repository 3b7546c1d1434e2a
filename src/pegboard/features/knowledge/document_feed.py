"""The changes of the documents of a base, as they happen, whichever server makes them."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, suppress

from pegboard.core.ports.document_store import StoredDocument
from pegboard.core.principal import Principal
from pegboard.errors import DocumentNotFound, ResourceNotFound
from pegboard.features.knowledge.bases import Bases, KnowledgeBase, scope_of
from pegboard.features.knowledge.changes import DocumentChange, KnowledgeChanges
from pegboard.features.knowledge.document_poll import DocumentPoll, Stamp, make_stamp
from pegboard.features.knowledge.documents import Documents

CHECK_AGAIN = 1.0
"""Seconds after which the rights of a watcher are checked again; the store is not asked for that.
"""


class DocumentFeed:
    """Follows one base for one caller.

    Args:
        base: The base.
        bases: Knows whether the caller sees it still.
        documents: Lists those that the caller may see.
        changes: What this server changes, and what the poll has found.
        caller: The caller, with the rights of now; asked at each change.
        poll: Looks for changes of other servers; None where there are none.
        check_again: Seconds between checks of the caller.
    """

    def __init__(
        self,
        base: KnowledgeBase,
        *,
        bases: Bases,
        documents: Documents,
        changes: KnowledgeChanges,
        caller: Callable[[], Principal],
        poll: DocumentPoll | None = None,
        check_again: float = CHECK_AGAIN,
    ) -> None:
        self._base = base
        self._bases = bases
        self._documents = documents
        self._changes = changes
        self._caller = caller
        self._poll = poll
        self._check_again = check_again
        self._known: dict[str, Stamp] = {}

    async def follow(self) -> AsyncGenerator[tuple[str, StoredDocument | str]]:
        """Yield documents that were added or changed, and ids of those that are gone.

        It ends when the caller does not see the base any more.
        """
        async with AsyncExitStack() as stack:
            queue = stack.enter_context(self._changes.watch(self._base.id))
            if self._poll is not None:
                await stack.enter_async_context(self._poll.watch(self._base))
            seen_by = self._caller()
            for row in await self._list():
                self._known[row.id] = make_stamp(row)
            while True:
                change = await self._wait(queue)
                caller = self._caller()
                try:
                    self._bases.find(self._base.id, principal=caller)
                except ResourceNotFound:
                    return  # it is gone, or not shared any more
                ids = [change.document] if change is not None and change.document else []
                if caller != seen_by:
                    seen_by = caller
                    ids += await self._find_other()
                for id_ in ids:
                    event = await self._read(id_)
                    if event is not None:
                        yield event

    async def _wait(self, queue: asyncio.Queue[DocumentChange]) -> DocumentChange | None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._check_again):
                return await queue.get()
        return None

    async def _find_other(self) -> list[str]:
        """The ids of documents that the caller sees now and did not before, or sees no more."""
        rows = {row.id: row for row in await self._list()}
        changed = [id_ for id_, row in rows.items() if self._known.get(id_) != make_stamp(row)]
        return [*changed, *(self._known.keys() - rows.keys())]

    async def _read(self, document: str) -> tuple[str, StoredDocument | str] | None:
        try:
            row = await self._documents.get(self._base, document, principal=self._caller())
        except DocumentNotFound:
            if self._known.pop(document, None) is None:
                return None
            return "document_deleted", document
        stamp = make_stamp(row)
        if self._known.get(row.id) == stamp:
            return None  # it was told already: the poll finds what this server has changed, too
        self._known[row.id] = stamp
        return "document", row

    async def _list(self) -> list[StoredDocument]:
        scope = scope_of([self._base], self._caller(), include_replaced=True)
        return await self._documents.list_all(scope)
