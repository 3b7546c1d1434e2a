"""The changes of the documents of a base, as they happen, whichever server makes them."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from pegboard.core.knowledge import UNFINISHED
from pegboard.core.ports.document_store import DocumentStore, StoredDocument
from pegboard.core.principal import Principal
from pegboard.errors import DocumentNotFound, ResourceNotFound
from pegboard.features.knowledge.bases import Bases, KnowledgeBase, scope_of
from pegboard.features.knowledge.changes import DocumentChange, KnowledgeChanges
from pegboard.features.knowledge.documents import Documents, find_group

LOOK_AGAIN = 1.0
"""Seconds after which documents that another server may be taking in are looked at again."""
_ROUNDS = 30
"""Every so many of these looks are at all documents of the base."""
_MAX_UNFINISHED = 500

Stamp = tuple[float, str, int, int]


class DocumentFeed:
    """Follows one base for one caller.

    Changes that this server makes come at once. Those of other servers that share the database
    come within a second for documents that are being taken in, and within half a minute for others.

    Args:
        base: The base.
        bases: Knows whether the caller sees it still.
        documents: Lists those that the caller may see.
        store: Where they are stored.
        changes: What this server changes.
        caller: The caller, with the rights of now; asked at each change.
        look_again: Seconds between looks at the store.
    """

    def __init__(
        self,
        base: KnowledgeBase,
        *,
        bases: Bases,
        documents: Documents,
        store: DocumentStore,
        changes: KnowledgeChanges,
        caller: Callable[[], Principal],
        look_again: float = LOOK_AGAIN,
    ) -> None:
        self._base = base
        self._bases = bases
        self._documents = documents
        self._store = store
        self._changes = changes
        self._caller = caller
        self._look_again = look_again
        self._known: dict[str, Stamp] = {}
        self._working: set[str] = set()

    async def follow(self) -> AsyncGenerator[tuple[str, StoredDocument | str]]:
        """Yield documents that were added or changed, and ids of those that are gone.

        It ends when the caller does not see the base any more.
        """
        for row in await self._list():
            self._note(row)
        looks = 0
        with self._changes.watch(self._base.id) as queue:
            while True:
                change = await self._wait(queue)
                try:
                    self._bases.find(self._base.id, principal=self._caller())
                except ResourceNotFound:
                    return  # it is gone, or not shared any more
                if change is not None:
                    ids: Iterable[str] = [change.document] if change.document else []
                else:
                    looks += 1
                    ids = await self._find_changed(looks)
                for id_ in ids:
                    event = await self._read(id_)
                    if event is not None:
                        yield event

    async def _wait(self, queue: asyncio.Queue[DocumentChange]) -> DocumentChange | None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._look_again):
                return await queue.get()
        return None

    async def _find_changed(self, looks: int) -> Sequence[str]:
        """The ids of documents that are not as they were, as far as this look goes."""
        if looks % _ROUNDS == 0:
            rows = {row.id: row for row in await self._list()}
            return [*self._compare(rows), *(self._known.keys() - rows.keys())]
        scope = scope_of([self._base], self._caller(), include_replaced=True)
        found = await self._store.list_visible(scope, states=UNFINISHED, limit=_MAX_UNFINISHED)
        rows = {row.id: row for row in found}
        return [*self._compare(rows), *(self._working - rows.keys())]

    def _compare(self, rows: Mapping[str, StoredDocument]) -> list[str]:
        return [id_ for id_, row in rows.items() if self._known.get(id_) != _stamp(row)]

    async def _read(self, document: str) -> tuple[str, StoredDocument | str] | None:
        try:
            row = await self._documents.get(self._base, document, principal=self._caller())
        except DocumentNotFound:
            self._working.discard(document)
            if self._known.pop(document, None) is None:
                return None
            return "document_deleted", document
        self._note(row)
        return "document", row

    async def _list(self) -> list[StoredDocument]:
        scope = scope_of([self._base], self._caller(), include_replaced=True)
        return await self._documents.list_all(scope)

    def _note(self, row: StoredDocument) -> None:
        self._known[row.id] = _stamp(row)
        if find_group(row) == "working":
            self._working.add(row.id)
        else:
            self._working.discard(row.id)


def _stamp(row: StoredDocument) -> Stamp:
    """What differs whenever a document was changed."""
    return row.updated_at, row.state, row.done, row.attempt
