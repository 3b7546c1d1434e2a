"""Looks at the documents of bases that are watched, for changes that other servers make."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.knowledge import UNFINISHED
from pegboard.core.ports.document_store import DocumentStore, StoredDocument
from pegboard.features.knowledge.bases import KnowledgeBase, scope_of
from pegboard.features.knowledge.changes import DocumentChange, KnowledgeChanges
from pegboard.features.knowledge.documents import Documents, find_group
from pegboard.features.knowledge.ingestion import INGESTER

LOOK_AGAIN = 1.0
"""Seconds after which documents that another server may be taking in are looked at again."""
_ROUNDS = 30
"""Every so many of these looks are at all documents of the bases."""
_MAX_UNFINISHED = 500
_LOG = logging.getLogger("pegboard.knowledge")

Stamp = tuple[float, str, int, int]


class DocumentPoll:
    """One look at the store for all watchers of this process, as long as there are any.

    It passes on what has changed as if this server had changed it; who may see it is for the
    watchers to judge. Changes come within a second for documents that are being taken in, and
    within half a minute for others.

    Args:
        documents: Lists documents.
        store: Where they are stored.
        changes: Is told what has changed.
        look_again: Seconds between looks.
    """

    def __init__(
        self,
        documents: Documents,
        store: DocumentStore,
        changes: KnowledgeChanges,
        *,
        look_again: float = LOOK_AGAIN,
    ) -> None:
        self._documents = documents
        self._store = store
        self._changes = changes
        self._look_again = look_again
        self._watched: Counter[str] = Counter()
        self._bases: dict[str, KnowledgeBase] = {}
        self._known: dict[str, dict[str, Stamp]] = {}
        self._working: dict[str, set[str]] = {}
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def watch(self, base: KnowledgeBase) -> AsyncGenerator[None]:
        """Look at the documents of a base while this is open."""
        if not self._watched[base.id]:
            self._note(base, await self._list(base))
        self._watched[base.id] += 1
        self._bases[base.id] = base
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="look at watched documents")
        try:
            yield
        finally:
            self._watched[base.id] -= 1
            if not self._watched[base.id]:
                for known in (self._watched, self._bases, self._known, self._working):
                    known.pop(base.id, None)
            if not self._watched:
                self._task.cancel()
                self._task = None

    async def _run(self) -> None:
        looks = 0
        while True:
            await asyncio.sleep(self._look_again)
            looks += 1
            with log_and_continue(_LOG, "knowledge: watched documents are not looked at"):
                if looks % _ROUNDS:
                    await self._look_at_unfinished()
                else:
                    await self._look_at_all()

    async def _look_at_unfinished(self) -> None:
        """One query, whatever the number of bases and watchers."""
        scope = scope_of([*self._bases.values()], INGESTER, include_replaced=True)
        found = await self._store.list_visible(scope, states=UNFINISHED, limit=_MAX_UNFINISHED)
        for id_, base in [*self._bases.items()]:
            rows = {row.id: row for row in found if row.base == id_}
            ended = self._working[id_] - rows.keys()
            self._pass_on(base, rows, ended)
            self._working[id_] = {*rows}

    async def _look_at_all(self) -> None:
        for base in [*self._bases.values()]:
            rows = await self._list(base)
            if base.id in self._bases:
                self._pass_on(base, rows, self._known[base.id].keys() - rows.keys())
                self._note(base, rows)

    def _pass_on(
        self, base: KnowledgeBase, rows: Mapping[str, StoredDocument], others: Iterable[str]
    ) -> None:
        known = self._known[base.id]
        changed = [id_ for id_, row in rows.items() if known.get(id_) != make_stamp(row)]
        known |= {id_: make_stamp(row) for id_, row in rows.items()}
        for id_ in (*changed, *others):
            self._changes.notify(DocumentChange(base.id, id_))

    def _note(self, base: KnowledgeBase, rows: Mapping[str, StoredDocument]) -> None:
        self._known[base.id] = {id_: make_stamp(row) for id_, row in rows.items()}
        self._working[base.id] = {id_ for id_, row in rows.items() if find_group(row) == "working"}

    async def _list(self, base: KnowledgeBase) -> dict[str, StoredDocument]:
        scope = scope_of([base], INGESTER, include_replaced=True)
        return {row.id: row for row in await self._documents.list_all(scope)}


def make_stamp(row: StoredDocument) -> Stamp:
    """What differs whenever a document was changed."""
    return row.updated_at, row.state, row.done, row.attempt
