"""What was found for questions: stored, and numbered on within a conversation or run."""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from pegboard.core.context import ToolContext
from pegboard.core.knowledge import Citation, CitedAnswer, Conflict, ConvertedDocument, Evidence
from pegboard.core.ports.conversation_store import Conversation
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.ports.knowledge.evidence_store import EvidenceMode, EvidenceStore, StoredEvidence
from pegboard.knowledge.grounding.check_answer import CheckedAnswer, check_answer
from pegboard.knowledge.grounding.passages import narrow_citation, widen_citations

_MAX_SUBJECTS = 10_000


class FoundEvidence(Struct, frozen=True):
    """Stored evidence, with the documents that it was found in, and the texts of those it cites."""

    stored: StoredEvidence
    documents: Mapping[str, StoredDocument]
    texts: Mapping[str, ConvertedDocument]


class CitableEvidence(Struct, frozen=True, kw_only=True):
    """What an answer may cite.

    Attributes:
        citations: As a model was shown them: quotes, or whole pieces.
        pieces: The numbers of those that are whole pieces.
        conflicts: Between quotes.
    """

    citations: Sequence[Citation] = ()
    pieces: frozenset[int] = frozenset()
    conflicts: Sequence[Conflict] = ()


class EvidenceLedger:
    """Stores evidence; its numbers are unique in a conversation, or in a run outside of one.

    Args:
        store: Where.
        conversation_of: The conversation in which a run answers.
        now: Unix seconds.
    """

    def __init__(
        self,
        store: EvidenceStore,
        conversation_of: Callable[[str], Awaitable[Conversation | None]],
        now: Callable[[], float],
    ) -> None:
        self._store = store
        self._conversation_of = conversation_of
        self._now = now
        self._turns: OrderedDict[str, asyncio.Lock] = OrderedDict()

    async def add(
        self,
        evidence: Evidence,
        mode: EvidenceMode,
        ctx: ToolContext[Any],
        *,
        bases: tuple[str, ...],
        took: float,
    ) -> StoredEvidence:
        """Number evidence on, and store it."""
        subject = await self.find_subject(ctx.root_id or ctx.run_id)
        async with self._take_turn(subject):
            before = await self._store.list_subject(subject) if subject else ()
            numbered = shift_numbers(evidence, max((it.last for it in before), default=0))
            stored = StoredEvidence(
                call=ctx.call_id or f"k_{secrets.token_hex(10)}",
                subject=subject,
                owner=ctx.principal.owner,
                mode=mode,
                question=evidence.question,
                at=self._now(),
                took=took,
                bases=bases,
                documents=tuple(sorted(list_documents(numbered))),
                evidence=numbered,
                last=max((it.number for it in numbered.citations), default=0),
            )
            await self._store.put(stored)
        return stored

    async def replace(self, stored: StoredEvidence, evidence: Evidence) -> StoredEvidence:
        """Store other evidence of the same call."""
        changed = structs.replace(
            stored, evidence=evidence, documents=tuple(sorted(list_documents(evidence)))
        )
        await self._store.put(changed)
        return changed

    async def find_subject(self, run: str) -> str:
        """The conversation in which a run answers, else the run; empty for none."""
        conversation = await self._conversation_of(run) if run else None
        return run if conversation is None else conversation.id

    async def find_seen(self, ctx: ToolContext[Any]) -> frozenset[str]:
        """The ids of the pieces that the conversation or run of a call has seen."""
        subject = await self.find_subject(ctx.root_id or ctx.run_id)
        found = await self._store.list_subject(subject) if subject else ()
        return frozenset(it.piece for row in found for it in row.evidence.citations)

    async def find_citable(self, run: str) -> CitableEvidence:
        """What an answer of a run may cite, and which of it disagrees."""
        subject = await self.find_subject(run)
        rows = await self._store.list_subject(subject) if subject else ()
        citations: list[Citation] = []
        pieces: set[int] = set()
        for row in rows:
            shown = row.evidence.citations
            if row.mode != "grounding":
                shown = widen_citations(row.evidence)
                pieces |= {it.number for it in shown}
            citations += [it for it in shown if it.quote]
        conflicts = [it for row in rows for it in row.evidence.conflicts]
        return CitableEvidence(citations=citations, pieces=frozenset(pieces), conflicts=conflicts)

    def _take_turn(self, subject: str) -> asyncio.Lock:
        """Calls of one turn of a model are numbered one after the other."""
        lock = self._turns.setdefault(subject, asyncio.Lock())
        self._turns.move_to_end(subject)
        while len(self._turns) > _MAX_SUBJECTS:
            self._turns.popitem(last=False)
        return lock


def list_documents(evidence: Evidence) -> set[str]:
    """The ids of the documents whose text stands in evidence."""
    cited = {it.document for it in evidence.citations}
    return cited | {hit.piece.document for hit in evidence.retrieval.hits}


def shift_numbers(evidence: Evidence, by: int) -> Evidence:
    """Evidence whose citations are numbered on behind others."""
    if not by:
        return evidence
    return structs.replace(
        evidence,
        citations=tuple(structs.replace(it, number=it.number + by) for it in evidence.citations),
        conflicts=tuple(
            structs.replace(it, first=it.first + by, second=it.second + by)
            for it in evidence.conflicts
        ),
        parts=tuple(
            structs.replace(it, citations=tuple(number + by for number in it.citations))
            for it in evidence.parts
        ),
    )


async def cite_answer(
    ledger: EvidenceLedger, text: str, run: str, *, question: str = ""
) -> CitedAnswer:
    """An answer without the numbers that no quote carries.

    One whose run has found nothing is left as it is: its numbers mean something else.

    Args:
        ledger: What the calls of its conversation or run have found.
        text: The answer.
        run: That has made it.
        question: What was asked.
    """
    citable = await ledger.find_citable(run)
    if not citable.citations:
        return CitedAnswer(text=text)
    checked = await asyncio.to_thread(_check, text, citable, question)
    cited = {item.number for item in checked.citations}
    met = [item for item in citable.conflicts if {item.first, item.second} & cited]
    others = {number for item in met for number in (item.first, item.second)} - cited
    return CitedAnswer(
        text=checked.text,
        citations=(*checked.citations, *(it for it in citable.citations if it.number in others)),
        conflicts=tuple(met),
        left_out=checked.left_out,
    )


def leave_out_document(evidence: Evidence, document: str) -> Evidence:
    """Evidence without the text of a deleted document; its citations stay, without their quotes."""
    retrieval = structs.replace(
        evidence.retrieval,
        hits=tuple(hit for hit in evidence.retrieval.hits if hit.piece.document != document),
    )
    gone = {it.number for it in evidence.citations if it.document == document}
    return structs.replace(
        evidence,
        citations=tuple(blank_citation(it, document) for it in evidence.citations),
        conflicts=tuple(it for it in evidence.conflicts if not {it.first, it.second} & gone),
        retrieval=retrieval,
    )


def name_waiting(stored: StoredEvidence, titles: Mapping[str, str]) -> StoredEvidence:
    """Evidence that names documents that were not ready by their titles; others are left out."""
    retrieval = stored.evidence.retrieval
    looks = tuple(
        structs.replace(look, not_ready=tuple(titles[it] for it in look.not_ready if it in titles))
        for look in retrieval.looks
    )
    named = structs.replace(stored.evidence, retrieval=structs.replace(retrieval, looks=looks))
    return structs.replace(stored, evidence=named)


def blank_citation(citation: Citation, document: str) -> Citation:
    """A citation without its quote, if it is of this document."""
    if citation.document != document:
        return citation
    return structs.replace(citation, quote="", title="", heading="", edition="")


def _check(text: str, citable: CitableEvidence, question: str) -> CheckedAnswer:
    """A checked answer; of a whole piece it cites the sentences that carry its own."""
    checked = check_answer(text, citable.citations, question=question)
    citations = tuple(
        narrow_citation(it, checked.sentences[it.number]) if it.number in citable.pieces else it
        for it in checked.citations
    )
    return structs.replace(checked, citations=citations)
