"""What goes with a document: what was kept of the answers that quote it; and with a base.

A base that is deleted takes in nothing more before its documents go. A deletion that fails is tried
again, also by the next start.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from msgspec import structs

from pegboard.concurrency.cooperative import in_thread
from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.accounts.resource_store import ResourceStore, StoredResource
from pegboard.core.ports.knowledge.document_store import (
    DocumentScope,
    DocumentStore,
    StoredDocument,
)
from pegboard.core.ports.knowledge.evidence_store import EvidenceStore, StoredEvidence
from pegboard.core.principal import Principal
from pegboard.errors import ResourceNotFound
from pegboard.features.knowledge.bases import DECLARED
from pegboard.features.knowledge.documents import Documents
from pegboard.features.knowledge.evidence import leave_out_document
from pegboard.features.knowledge.ingestion import INGESTER
from pegboard.features.knowledge.quotes import QuoteFinder
from pegboard.features.resources import Resources

_LOG = logging.getLogger("pegboard.knowledge")
_AT_ONCE = 200
"""Rows of evidence that one transaction writes: others write in between."""
_SKEW = 3_600.0
"""Seconds by which the clocks of two servers may differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotes:
    """A document that is deleted, and what is known to quote it.

    Attributes:
        document: Its id.
        subjects: The ids of conversations and runs that have asked for it.
        since: Runs that ended before cannot have read it; Unix seconds.
        readers: Those who have asked for it, as `Principal.owner`.
        read_at: When it was first found; None if it never was.
        finder: Finds what stands in it.
    """

    document: str
    subjects: frozenset[str]
    since: float
    readers: frozenset[str]
    read_at: float | None
    finder: QuoteFinder


ForgetRuns = Callable[[Quotes], Awaitable[int]]
"""Takes quotes out of conversations and runs; how many answers it changed."""


class Deletion:
    """Deletes what quotes a document, and counts it before.

    Args:
        evidence: Stores what was found.
        documents: Stores the texts of documents.
        forget: Takes the quotes out of conversations and runs.
        forget_results: Deletes stored results and outcomes in which an id stands.
    """

    def __init__(
        self,
        evidence: EvidenceStore,
        documents: DocumentStore,
        forget: ForgetRuns,
        forget_results: Callable[[str], Awaitable[int]],
    ) -> None:
        self._evidence = evidence
        self._documents = documents
        self._forget = forget
        self._forget_results = forget_results

    async def forget(self, row: StoredDocument) -> None:
        """Delete the quotes of a document; answers keep their own words.

        Evidence goes last: as long as it is there, a deletion that was broken off finds what has
        read the document.

        Raises:
            Unavailable: A run that has read the document has not ended yet.
        """
        found = await self._evidence.list_document(row.id)
        text = await self._documents.get_text(row.id, row.revision)
        texts = [*(_list_quotes(found, row.id)), *([] if text is None else [text.text])]
        quotes = Quotes(
            document=row.id,
            subjects=frozenset(it.subject for it in found if it.subject),
            since=row.created_at - _SKEW,
            readers=frozenset(it.owner for it in found),
            read_at=min((it.at for it in found), default=None),
            finder=await in_thread(lambda: QuoteFinder(texts), is_large=True),
        )
        await self._forget(quotes)
        while found := await self._evidence.list_document(row.id):
            for at in range(0, len(found), _AT_ONCE):
                those = [_leave_out(stored, row.id) for stored in found[at : at + _AT_ONCE]]
                await self._evidence.put_all(those)
        await self._forget_results(row.id)

    async def count(self, rows: Sequence[StoredDocument], principal: Principal) -> dict[str, int]:
        """A `DeletionAnswer`: answers and results are those of the caller alone."""
        calls = await self._evidence.find_calls(principal.owner, [row.id for row in rows])
        answers = frozenset(calls.values()) - {""}
        return {
            "documents": len(rows),
            "bytes": sum(row.size for row in rows),
            "pieces": sum(row.pieces for row in rows),
            "results": len(calls),
            "answers": len(answers),
        }


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
        """Delete the documents of all owners in a base, which takes in nothing more from then on.

        Raises:
            Unavailable: A run that has read one of them has not ended yet.
        """
        await self._close(base)
        await self._delete_documents(base.id)

    async def finish(self) -> bool:
        """Go on with deletions that have failed, or that a crash has broken off.

        Several servers may do so at once, also beside one that deletes.

        Returns:
            Whether nothing is left to delete.
        """
        failed = False
        filled = await self._store.list_bases()  # first: a base is stored before its documents
        stored = await self._bases.list_visible(INGESTER, kind="knowledge")
        known = {base.id for base in stored}
        for id_ in filled:
            if id_ not in known and not id_.startswith(DECLARED):
                failed |= not await self._finish(
                    partial(self._delete_documents, id_),
                    what=f"knowledge: documents of {id_} are not deleted",
                )
        for base in stored:
            if base.is_being_deleted:
                failed |= not await self._finish(
                    partial(self._resources.delete, base.id, principal=INGESTER),
                    what=f"knowledge: the base {base.id} is not deleted",
                )
        return not failed

    async def _finish(self, delete: Callable[[], Awaitable[None]], *, what: str) -> bool:
        """Whether something is deleted now; why it is not is logged."""
        with log_and_continue(_LOG, what):
            with suppress(ResourceNotFound):  # another server may be faster
                await delete()
            return True
        return False

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


def _list_quotes(found: Sequence[StoredEvidence], document: str) -> set[str]:
    """What was shown of a document."""
    shown: set[str] = set()
    for stored in found:
        hits = stored.evidence.retrieval.hits
        shown |= {it.piece.text for it in hits if it.piece.document == document}
        shown |= {it.quote for it in stored.evidence.citations if it.document == document}
    return shown


def _leave_out(stored: StoredEvidence, document: str) -> StoredEvidence:
    return structs.replace(
        stored,
        evidence=leave_out_document(stored.evidence, document),
        documents=tuple(it for it in stored.documents if it != document),
    )
