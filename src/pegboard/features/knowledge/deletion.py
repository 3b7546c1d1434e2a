"""What goes with a document: what was kept of the answers that quote it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from msgspec import structs

from pegboard.concurrency.cooperative import in_thread
from pegboard.core.ports.knowledge.document_store import DocumentStore, StoredDocument
from pegboard.core.ports.knowledge.evidence_store import EvidenceStore, StoredEvidence
from pegboard.core.principal import Principal
from pegboard.features.knowledge.evidence import leave_out_document
from pegboard.features.knowledge.quotes import QuoteFinder

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
        results: set[str] = set()
        answers: set[str] = set()
        for row in rows:
            for stored in await self._evidence.list_document(row.id):
                if stored.owner == principal.owner:
                    results.add(stored.call)
                    answers |= {stored.subject} - {""}
        return {
            "documents": len(rows),
            "bytes": sum(row.size for row in rows),
            "pieces": sum(row.pieces for row in rows),
            "results": len(results),
            "answers": len(answers),
        }


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
