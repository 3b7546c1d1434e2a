"""The changes of the documents of a base, as they happen, whichever server makes them."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.knowledge import UNFINISHED
from pegboard.core.ports.knowledge.document_store import DocumentStore, StoredDocument
from pegboard.core.principal import Principal
from pegboard.errors import DocumentNotFound, ResourceNotFound
from pegboard.features.knowledge.bases import Bases, KnowledgeBase, scope_of
from pegboard.features.knowledge.documents import Documents, find_group
from pegboard.features.knowledge.ingestion import INGESTER
from pegboard.features.knowledge.parts import DocumentChange, KnowledgeChanges

CHECK_AGAIN = 1.0
"""Seconds after which the rights of a watcher are checked again; the store is not asked for that.
"""
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
        changed = [id_ for id_, row in rows.items() if known.get(id_) != _stamp(row)]
        known |= {id_: _stamp(row) for id_, row in rows.items()}
        for id_ in (*changed, *others):
            self._changes.notify(DocumentChange(base.id, id_))

    def _note(self, base: KnowledgeBase, rows: Mapping[str, StoredDocument]) -> None:
        self._known[base.id] = {id_: _stamp(row) for id_, row in rows.items()}
        self._working[base.id] = {id_ for id_, row in rows.items() if find_group(row) == "working"}

    async def _list(self, base: KnowledgeBase) -> dict[str, StoredDocument]:
        scope = scope_of([base], INGESTER, include_replaced=True)
        return {row.id: row for row in await self._documents.list_all(scope)}


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
                self._known[row.id] = _stamp(row)
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
        changed = [id_ for id_, row in rows.items() if self._known.get(id_) != _stamp(row)]
        return [*changed, *(self._known.keys() - rows.keys())]

    async def _read(self, document: str) -> tuple[str, StoredDocument | str] | None:
        try:
            row = await self._documents.get(self._base, document, principal=self._caller())
        except DocumentNotFound:
            if self._known.pop(document, None) is None:
                return None
            return "document_deleted", document
        stamp = _stamp(row)
        if self._known.get(row.id) == stamp:
            return None  # it was told already: the poll finds what this server has changed, too
        self._known[row.id] = stamp
        return "document", row

    async def _list(self) -> list[StoredDocument]:
        scope = scope_of([self._base], self._caller(), include_replaced=True)
        return await self._documents.list_all(scope)


def _stamp(row: StoredDocument) -> Stamp:
    """What differs whenever a document was changed."""
    return row.updated_at, row.state, row.done, row.attempt
