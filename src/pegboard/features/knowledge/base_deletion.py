"""Deletes what is in a knowledge base before the base goes, also after a crash."""

import logging
from contextlib import suppress

from msgspec import structs

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.accounts.resource_store import ResourceStore, StoredResource
from pegboard.core.ports.knowledge.document_store import DocumentScope, DocumentStore
from pegboard.errors import ResourceNotFound
from pegboard.features.knowledge.bases import DECLARED
from pegboard.features.knowledge.documents import Documents
from pegboard.features.knowledge.ingestion import INGESTER
from pegboard.features.resources import Resources

_LOG = logging.getLogger("pegboard.knowledge")


class BaseDeletion:
    """Empties the bases that are deleted.

    Args:
        documents: Deletes documents with all that quotes them.
        store: Stores the rows of documents.
        bases: Stores the rows of bases.
        resources: Deletes bases.
    """

    def __init__(
        self,
        documents: Documents,
        store: DocumentStore,
        bases: ResourceStore,
        resources: Resources,
    ) -> None:
        self._documents = documents
        self._store = store
        self._bases = bases
        self._resources = resources

    async def clear(self, base: StoredResource) -> None:
        """Delete all documents of a base, whoever has put them in; it takes in nothing more.

        Raises:
            Unavailable: A run that has read one of them has not ended yet.
        """
        await self._close(base)
        await self._delete_documents(base.id)

    async def finish(self) -> None:
        """Go on with deletions that a crash has broken off.

        Several servers may do so at once, also beside one that deletes.
        """
        filled = await self._store.list_bases()  # first: a base is stored before its documents
        stored = await self._bases.list_visible(INGESTER, kind="knowledge")
        known = {base.id for base in stored}
        for id_ in filled:
            if id_ not in known and not id_.startswith(DECLARED):
                with log_and_continue(_LOG, f"knowledge: documents of {id_} are not deleted"):
                    await self._delete_documents(id_)
        for base in stored:
            if base.is_being_deleted:
                what = f"knowledge: the base {base.id} is not deleted"
                # another server may be faster
                with log_and_continue(_LOG, what), suppress(ResourceNotFound):
                    await self._resources.delete(base.id, principal=INGESTER)

    async def _close(self, base: StoredResource) -> None:
        """Let a base take in nothing more, on any server."""
        known: StoredResource | None = base
        while known is not None and not known.is_being_deleted:
            closed = structs.replace(known, is_being_deleted=True, revision=known.revision + 1)
            if await self._bases.replace(closed):
                return
            known = await self._bases.get(base.id)

    async def _delete_documents(self, base: str) -> None:
        scope = DocumentScope(bases=(base,), principal=INGESTER, include_replaced=True)
        while rows := await self._documents.list_all(scope):
            for row in rows:
                await self._documents.remove(row)
