"""What goes with a document: what was kept of the answers that quote it."""

from collections.abc import Awaitable, Callable, Sequence

from msgspec import structs

from pegboard.core.ports.document_store import StoredDocument
from pegboard.core.ports.evidence_store import EvidenceStore, StoredEvidence
from pegboard.core.principal import Principal
from pegboard.features.knowledge.evidence import leave_out_document

ForgetRun = Callable[[str, str], Awaitable[int]]
"""Takes the quotes of a document out of a conversation or run; how many answers it changed."""


class Deletion:
    """Deletes what quotes a document, and counts it before.

    Args:
        evidence: Stores what was found.
        forget: Takes the quotes out of conversations and runs.
        forget_results: Deletes stored results and outcomes in which an id stands.
    """

    def __init__(
        self,
        evidence: EvidenceStore,
        forget: ForgetRun,
        forget_results: Callable[[str], Awaitable[int]],
    ) -> None:
        self._evidence = evidence
        self._forget = forget
        self._forget_results = forget_results

    async def forget(self, row: StoredDocument) -> None:
        """Delete the quotes of a document; messages keep their text."""
        subjects: dict[str, None] = {}
        for stored in await self._evidence.list_document(row.id):
            if stored.subject:
                subjects[stored.subject] = None
            await self._evidence.put(_leave_out(stored, row.id))
        for subject in subjects:
            await self._forget(subject, row.id)
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


def _leave_out(stored: StoredEvidence, document: str) -> StoredEvidence:
    return structs.replace(
        stored,
        evidence=leave_out_document(stored.evidence, document),
        documents=tuple(it for it in stored.documents if it != document),
    )
