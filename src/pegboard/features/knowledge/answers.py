"""Answers of knowledge bases to the tools of models and to people."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import structs

from pegboard.core.context import ToolContext
from pegboard.core.knowledge import (
    Citation,
    ConvertedDocument,
    DocumentFinding,
    Evidence,
    Hit,
    Piece,
    Retrieval,
)
from pegboard.core.ports.chat_model import ChatModel
from pegboard.core.ports.knowledge.bases import KnowledgeReply
from pegboard.core.ports.knowledge.document_store import DocumentScope, StoredDocument
from pegboard.core.ports.knowledge.evidence_store import EvidenceMode, StoredEvidence
from pegboard.core.principal import Principal
from pegboard.errors import ConfigError, DocumentNotFound, InvalidRequest
from pegboard.execution.limits.model_costs import ModelCosts
from pegboard.features.knowledge.bases import KnowledgeBase, scope_of
from pegboard.features.knowledge.evidence import EvidenceLedger, FoundEvidence
from pegboard.features.knowledge.evidence_views import view_evidence
from pegboard.features.knowledge.parts import KnowledgeParts
from pegboard.features.knowledge.vectors import Vectors
from pegboard.knowledge.grounding.evidence_frame import render_citations, render_evidence
from pegboard.knowledge.grounding.evidence_retriever import retrieve_evidence
from pegboard.knowledge.grounding.ground import ground
from pegboard.knowledge.grounding.passages import cite_passages, widen_citations
from pegboard.knowledge.grounding.verify_evidence import StoredText, verify_evidence
from pegboard.knowledge.retrieve import Retriever, SearchedBase

MAX_QUESTION = 4_000
"""Characters of a question."""
_MAX_PIECES = 50
_MAX_LISTED = 12_000
"""Characters of text that a reading tool returns, about 3,000 tokens."""
_MAX_DOCUMENT_PIECES = 5_000
_PAGE = 200
_READ_ON = (
    "To read on in a document, call kb_open with its id and a page, kb_grep with its id and a text "
    "that stands in it, or kb_around with the id of a piece."
)


class KnowledgeAnswers:
    """Implements `KnowledgeBases`.

    Args:
        parts: The stores and the bases.
        ledger: Stores what was found, and numbers it.
        model: The language model that picks quotes and judges contradictions; None for rules.
        vectors: Knows which vectors of a base answer.
    """

    def __init__(
        self,
        parts: KnowledgeParts,
        ledger: EvidenceLedger,
        model: Callable[[], Awaitable[ChatModel | None]],
        vectors: Vectors,
    ) -> None:
        self._parts = parts
        self._ledger = ledger
        self._model = model
        self._vectors = vectors
        self._retriever = Retriever(parts.documents, parts.index, find_reranker=parts.find_reranker)

    def describe(self, principal: Principal) -> Mapping[str, str]:
        """The bases that a caller may see, with what can be asked of them, by name."""
        return {
            base.name: ". ".join(filter(None, [base.title, base.description]))
            for base in self._parts.bases.list_visible(principal)
        }

    async def list(self, ctx: ToolContext[Any]) -> KnowledgeReply:
        """The bases, by name."""
        bases = self._select((), ctx)
        counts = await self._parts.documents.count_ready(scope_of(bases, ctx.principal))
        listed: list[dict[str, Any]] = []
        for base in bases:
            count = counts.get(base.id)
            listed.append(
                {
                    "id": base.id,
                    "name": base.name,
                    "title": base.title or base.name,
                    "description": base.description,
                    "documents": count.documents if count else 0,
                    "pieces": count.pieces if count else 0,
                }
            )
        lines = [
            f"- {it['name']}: {' '.join((it['title'] + '. ' + it['description']).split())} "
            f"({it['documents']} documents, {it['pieces']} pieces)"
            for it in listed
        ]
        return KnowledgeReply(
            text="\n".join(lines) or "There is no knowledge base here.", data={"bases": listed}
        )

    async def retrieve(
        self, question: str, ctx: ToolContext[Any], *, bases: Sequence[str] = (), limit: int = 8
    ) -> KnowledgeReply:
        """The best pieces for a question, each cited by the passage that speaks to it."""
        started = time.perf_counter()
        chosen = self._select(bases, ctx)
        _check_question(question)
        costs = self._count_costs(ctx)
        found = await self._search(question, chosen, ctx, costs, limit=limit)
        evidence = Evidence(
            question=question,
            enough=bool(found.hits),
            citations=tuple(_cite_piece(hit, at) for at, hit in enumerate(found.hits, 1)),
            retrieval=found,
        )
        kept = await self._keep(evidence, "simple", chosen, ctx, started=started)
        return _stamp(await self._reply(kept, extra=_READ_ON), costs)

    async def ground(
        self, question: str, ctx: ToolContext[Any], *, bases: Sequence[str] = (), limit: int = 8
    ) -> KnowledgeReply:
        """Checked quotes for a question, their conflicts, and whether they are enough."""
        started = time.perf_counter()
        chosen = self._select(bases, ctx)
        _check_question(question)
        costs = self._count_costs(ctx)

        async def search(part: str, /, *, limit: int) -> Retrieval:
            return await self._search(part, chosen, ctx, costs, limit=limit)

        found = await retrieve_evidence(question, search, limit=limit)
        model = await self._model()
        if model is not None:
            await costs.check()
        name = "" if model is None else model.name
        evidence = await ground(
            question, found, model=model, report=partial(costs.add, name), limit=limit
        )
        kept = await self._keep(evidence, "grounding", chosen, ctx, started=started)
        return _stamp(await self._reply(kept), costs)

    async def read(self, document: str, ctx: ToolContext[Any], *, base: str = "") -> str:
        """The whole text of a document in its frame, without places that a reviewer leaves out."""
        row, found = await self._find_document(document, ctx)
        text = await self._parts.documents.get_text(row.id, row.revision)
        if text is None or base not in {"", found.id, found.name}:
            raise DocumentNotFound(f"There is no document '{document[:100]}'.")
        whole = Citation(
            number=1,
            piece="",
            document=row.id,
            base=found.id,
            quote=text.text,
            start=0,
            end=len(text.text),
            title=row.title or row.name,
            edition=row.edition,
        )
        findings = () if row.review == "use" else text.findings
        return render_citations([whole], findings={row.id: findings}, marking="lines")

    async def open(
        self, document: str, ctx: ToolContext[Any], *, page: int = 1, pages: int = 1
    ) -> KnowledgeReply:
        """The pieces of pages of a document; those that this run has seen are left out."""
        row, base = await self._find_document(document, ctx)
        last = page + max(pages, 1) - 1
        pieces = [
            piece
            for piece in await self.list_pieces(row)
            if (page <= piece.page <= last) or (not piece.page and page == 1)
        ]
        return await self._read(f"pages {page} to {last}", row, base, pieces, ctx)

    async def grep(
        self, document: str, pattern: str, ctx: ToolContext[Any], *, limit: int = 20
    ) -> KnowledgeReply:
        """The pieces of a document in which a text stands, upper and lower case alike."""
        _check_question(pattern)
        row, base = await self._find_document(document, ctx)
        wanted = pattern.casefold()
        pieces = [it for it in await self.list_pieces(row) if wanted in it.text.casefold()]
        return await self._read(pattern, row, base, pieces[:limit], ctx, keeps_seen=True)

    async def around(
        self, piece: str, ctx: ToolContext[Any], *, before: int = 1, after: int = 1
    ) -> KnowledgeReply:
        """The pieces before and after one; those that this run has seen are left out."""
        scope = scope_of(self._select((), ctx), ctx.principal)
        found = await self._parts.index.get_pieces([piece], scope)
        if not found:
            raise DocumentNotFound(f"There is no piece '{piece[:100]}'.")
        row, base = await self._find_document(found[0].document, ctx)
        first = max(found[0].number - before, 1)
        count = found[0].number + after - first + 1
        pieces = await self._parts.index.list_pieces(row.id, start=first, limit=count)
        return await self._read(f"around {piece}", row, base, pieces, ctx)

    # parts of these

    def _count_costs(self, ctx: ToolContext[Any]) -> ModelCosts:
        return ModelCosts(self._parts.environment().quotas, ctx.principal)

    def _has_reranker(self) -> bool:
        try:
            return self._parts.find_reranker() is not None
        except ConfigError:
            return False  # the search says so

    def _select(self, names: Sequence[str], ctx: ToolContext[Any]) -> Sequence[KnowledgeBase]:
        """The bases of these names, of those that the request lets through."""
        bases, principal = self._parts.bases, ctx.principal
        if ctx.knowledge is None:
            return bases.select(names, principal=principal)
        allowed = {base.id: base for base in bases.list_visible(principal)}
        allowed = {id_: it for id_, it in allowed.items() if {it.name, id_} & ctx.knowledge}
        if not names:
            return [*allowed.values()]
        chosen = [base for base in allowed.values() if {base.name, base.id} & {*names}]
        unknown = [it for it in names if all(it not in {base.name, base.id} for base in chosen)]
        if unknown:
            bases.find(f"{unknown[0]} ", principal=structs.replace(principal))  # never there
        return chosen

    async def _search(
        self,
        question: str,
        bases: Sequence[KnowledgeBase],
        ctx: ToolContext[Any],
        costs: ModelCosts,
        *,
        limit: int,
    ) -> Retrieval:
        searched = [
            SearchedBase(
                id=base.id,
                name=base.name,
                embedder=await self._vectors.find_answering(base),
                is_missing=bool(base.settings.embedder)
                and self._parts.embedder(base.settings) is None,
            )
            for base in bases
        ]
        if any(base.embedder for base in searched) or self._has_reranker():
            await costs.check()
        scope = DocumentScope(bases=(), principal=ctx.principal)
        return await self._retriever.retrieve(
            question,
            searched,
            scope,
            limit=min(max(limit, 1), _MAX_PIECES),
            report=costs.add,
        )

    async def _find_document(
        self, document: str, ctx: ToolContext[Any]
    ) -> tuple[StoredDocument, KnowledgeBase]:
        """A document that answers, and its base.

        Raises:
            DocumentNotFound: There is none for this caller.
        """
        bases = self._select((), ctx)
        scope = scope_of(bases, ctx.principal, include_replaced=True, documents=(document,))
        rows = await self._parts.documents.list_visible(scope, limit=1) if bases else ()
        if not rows or not rows[0].answers:
            raise DocumentNotFound(f"There is no document '{document[:100]}'.")
        return rows[0], next(base for base in bases if base.id == rows[0].base)

    async def list_pieces(self, row: StoredDocument) -> Sequence[Piece]:
        """All pieces of a document, in order."""
        found: list[Piece] = []
        while len(found) < _MAX_DOCUMENT_PIECES:
            page = await self._parts.index.list_pieces(row.id, start=len(found) + 1, limit=_PAGE)
            found += page
            if len(page) < _PAGE:
                break
        return found

    async def _read(
        self,
        question: str,
        row: StoredDocument,
        base: KnowledgeBase,
        pieces: Sequence[Piece],
        ctx: ToolContext[Any],
        *,
        keeps_seen: bool = False,
    ) -> KnowledgeReply:
        """Pieces as evidence, bounded, without those that the run has seen."""
        started = time.perf_counter()
        seen = frozenset[str]() if keeps_seen else await self._ledger.find_seen(ctx)
        new = [piece for piece in pieces if piece.id not in seen]
        shown: list[Piece] = []
        room = _MAX_LISTED
        for piece in new:
            if shown and len(piece.text) > room:
                break
            shown.append(piece)
            room -= len(piece.text)
        hits = [
            Hit(piece=piece, score=1.0, title=row.title or row.name, edition=row.edition)
            for piece in shown
        ]
        evidence = Evidence(
            question=question,
            enough=bool(shown),
            citations=tuple(_cite_piece(hit, at) for at, hit in enumerate(hits, 1)),
            retrieval=Retrieval(question=question, hits=tuple(hits)),
        )
        kept = await self._keep(evidence, "read", [base], ctx, started=started)
        left = [
            f"{len(new) - len(shown)} more pieces were left out: ask for fewer pages."
            if len(new) > len(shown)
            else "",
            f"{len(pieces) - len(new)} were left out, since you have seen them."
            if len(pieces) > len(new)
            else "",
        ]
        return await self._reply(kept, extra=" ".join(filter(None, left)))

    async def _keep(
        self,
        evidence: Evidence,
        mode: EvidenceMode,
        bases: Sequence[KnowledgeBase],
        ctx: ToolContext[Any],
        *,
        started: float,
    ) -> FoundEvidence:
        found = {hit.piece.document for hit in evidence.retrieval.hits}
        documents = await self._parts.documents.get_all(found)
        texts = await self._read_texts(evidence, documents)
        shown = {
            id_: StoredText(
                revision=documents[id_].revision, text=text.text, findings=text.findings
            )
            for id_, text in texts.items()
        }
        stamped = structs.replace(
            verify_evidence(evidence, shown),
            retrieval=structs.replace(
                evidence.retrieval,
                hits=tuple(
                    hit for hit in evidence.retrieval.hits if hit.piece.document in documents
                ),
            ),
        )
        if mode == "simple":
            stamped = await asyncio.to_thread(cite_passages, stamped)
        stored = await self._ledger.add(
            stamped,
            mode,
            ctx,
            bases=tuple(base.id for base in bases),
            took=time.perf_counter() - started,
        )
        stored = await self._leave_out_deleted(stored, shown)
        return FoundEvidence(stored=stored, documents=documents, texts=texts)

    async def _leave_out_deleted(
        self, stored: StoredEvidence, shown: Mapping[str, StoredText]
    ) -> StoredEvidence:
        """Evidence without documents that were deleted while it was made.

        A deletion lets a document answer no more before it looks for evidence that quotes it, so
        what it has missed is found here.
        """
        rows = await self._parts.documents.get_all({*stored.documents})
        left = {id_ for id_, row in rows.items() if row.answers}
        if left.issuperset(stored.documents):
            return stored
        retrieval = stored.evidence.retrieval
        hits = tuple(hit for hit in retrieval.hits if hit.piece.document in left)
        evidence = structs.replace(
            verify_evidence(stored.evidence, {id_: shown[id_] for id_ in left & shown.keys()}),
            retrieval=structs.replace(retrieval, hits=hits),
        )
        return await self._ledger.replace(stored, evidence)

    async def _read_texts(
        self, evidence: Evidence, documents: Mapping[str, StoredDocument]
    ) -> Mapping[str, ConvertedDocument]:
        """The texts of the documents that are cited, as they are stored now."""
        cited = {it.document for it in evidence.citations} & documents.keys()
        return await self._parts.documents.get_texts(
            {document: documents[document].revision for document in cited}
        )

    async def _reply(self, found: FoundEvidence, *, extra: str = "") -> KnowledgeReply:
        evidence = found.stored.evidence
        findings: dict[str, Sequence[DocumentFinding]] = {}
        for document in {it.document for it in evidence.citations}:
            is_used = found.documents[document].review == "use"
            findings[document] = () if is_used else found.texts[document].findings
        skipped = _name_skipped(evidence.retrieval)
        if found.stored.mode == "grounding":
            text = render_evidence(evidence, findings=findings)
            extra = "\n".join([*_name_places(evidence.citations), *skipped])
        elif evidence.citations:
            text = render_citations(widen_citations(evidence), findings=findings)
            extra = "\n".join([*_name_places(evidence.citations), *skipped, extra])
        else:
            text = "Nothing was found." if found.stored.mode == "simple" or not extra else ""
        return KnowledgeReply(
            text="\n\n".join(filter(None, [text, extra.strip()])),
            data=view_evidence(found.stored),
        )


def _stamp(reply: KnowledgeReply, costs: ModelCosts) -> KnowledgeReply:
    """A reply that says what models have used for it."""
    used = costs.usage
    if not used.requests:
        return reply
    tokens = used.input_tokens + used.output_tokens
    return structs.replace(reply, tokens=tokens, cost=used.cost, model=costs.model)


_SKIPPED = {
    "meaning": "The embedding model failed: this was found by words alone.",
    "rerank": "The reranker failed: this is in the order without it.",
}


def _name_skipped(retrieval: Retrieval) -> list[str]:
    """Which stages of a search failed, a sentence each."""
    skipped = {stage for look in retrieval.looks for stage in look.skipped}
    return [text for stage, text in _SKIPPED.items() if stage in skipped]


def _check_question(question: str) -> None:
    if not question.strip():
        raise InvalidRequest("Ask a question.")
    if len(question) > MAX_QUESTION:
        raise InvalidRequest(f"A question has at most {MAX_QUESTION} characters.")


def _cite_piece(hit: Hit, number: int) -> Citation:
    piece = hit.piece
    return Citation(
        number=number,
        piece=piece.id,
        document=piece.document,
        base=piece.base,
        quote=piece.text,
        start=piece.start,
        end=piece.end,
        title=hit.title,
        edition=hit.edition,
        page=piece.page,
        heading=piece.heading,
    )


def _name_places(citations: Sequence[Citation]) -> list[str]:
    return [f"[{it.number}] document {it.document}, piece {it.piece}" for it in citations]
