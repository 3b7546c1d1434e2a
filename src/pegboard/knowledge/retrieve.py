"""`Retriever`: the best pieces of several bases for a question.

All bases are searched by words at once, those with an embedder by meaning as well, and a reranker
orders the best of both, where there is one.
"""

import logging
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from pegboard.core.knowledge import BaseLook, Hit, Retrieval
from pegboard.core.ports.document_store import DocumentScope, DocumentStore, StoredDocument
from pegboard.core.ports.embedder import Embedder
from pegboard.core.ports.knowledge_index import KnowledgeIndex, ScoredPiece, WordMatches
from pegboard.core.ports.reranker import Reranker
from pegboard.errors import PegboardError
from pegboard.knowledge.fusion import MeaningMatches, fuse
from pegboard.knowledge.terms import weigh_question

_LOG = logging.getLogger("pegboard.knowledge")
_CANDIDATES = 100
"""Pieces that each stage finds, before they are joined."""
_NOT_READY = ("waiting", "converting", "cutting", "embedding", "storing", "held", "failed")
_MAX_NOT_READY = 20
_RERANKED = 40
"""Pieces that a reranker reads."""


class SearchedBase(Struct, frozen=True, kw_only=True):
    """A base to search.

    Attributes:
        embedder: The model that made the vectors that answer; None to search by words.
    """

    id: str
    name: str
    embedder: Embedder | None = None


class Retriever:
    """Finds pieces for questions."""

    def __init__(
        self, documents: DocumentStore, index: KnowledgeIndex, *, reranker: Reranker | None = None
    ) -> None:
        """Search these."""
        self._documents = documents
        self._index = index
        self._reranker = reranker

    async def retrieve(
        self,
        question: str,
        bases: Sequence[SearchedBase],
        scope: DocumentScope,
        *,
        limit: int = 8,
    ) -> Retrieval:
        """The best pieces, and how each base was searched; one that fails does not end it.

        Args:
            question: In the words of a person or a model.
            bases: Those that the caller may see.
            scope: The caller and filters; its `bases` are replaced by those of `bases`.
            limit: At most so many pieces.
        """
        scope = replace(scope, bases=tuple(base.id for base in bases))
        terms = weigh_question(question)
        words, failures = await self._search_words(terms, scope)
        meanings = await self._search_meanings(question, bases, scope)
        hits = fuse(terms, words, tuple(meanings.values()))
        hits, is_reranked = await self._rerank(question, hits[: max(limit, _RERANKED)])
        hits = hits[:limit]
        stages = _list_stages(bases, meanings, last=("rerank",) if is_reranked else ())
        titles = await self._read_documents(hits)
        return Retrieval(
            question=question,
            hits=tuple(_name(hit, titles) for hit in hits),
            looks=await self._look(bases, scope, failures, stages),
        )

    async def _search_words(
        self, terms: Mapping[str, float], scope: DocumentScope
    ) -> tuple[WordMatches, dict[str, str]]:
        """What is found in all bases, and why some could not be searched."""
        if not terms:
            return WordMatches(), {}
        try:
            return await self._index.search_words(terms, scope, limit=_CANDIDATES), {}
        except PegboardError as error:
            if len(scope.bases) < 2:
                return WordMatches(), dict.fromkeys(scope.bases, str(error))
        found: list[ScoredPiece] = []
        rarities: dict[str, float] = {}
        failures: dict[str, str] = {}
        for base in scope.bases:
            part, failed = await self._search_words(terms, replace(scope, bases=(base,)))
            failures |= failed
            found += part.pieces
            for term, rarity in part.rarities.items():
                rarities[term] = max(rarity, rarities.get(term, 0.0))
        found.sort(key=lambda item: -item.score)
        return WordMatches(found[:_CANDIDATES], rarities), failures

    async def _search_meanings(
        self, question: str, bases: Sequence[SearchedBase], scope: DocumentScope
    ) -> dict[str, MeaningMatches]:
        """What is nearest in the bases of each embedder, by its name."""
        embedders = {base.embedder.name: base.embedder for base in bases if base.embedder}
        found: dict[str, MeaningMatches] = {}
        for name, embedder in embedders.items():
            ids = tuple(it.id for it in bases if it.embedder and it.embedder.name == name)
            try:
                (vector,) = await embedder.embed([question])
                matches = await self._index.search_vectors(
                    vector, replace(scope, bases=ids), embedder=name, limit=_CANDIDATES
                )
                is_full = len(matches.pieces) == _CANDIDATES
                found[name] = MeaningMatches(matches, ids, is_full=is_full)
            except PegboardError as error:
                _LOG.warning("knowledge: searching by the vectors of %s failed: %s", name, error)
        return found

    async def _rerank(self, question: str, hits: Sequence[Hit]) -> tuple[Sequence[Hit], bool]:
        """The hits in the order of the reranker, if there is one and it answers."""
        if self._reranker is None or not hits:
            return hits, False
        try:
            numbers = await self._reranker.rerank(question, [hit.piece.text for hit in hits])
        except PegboardError as error:
            _LOG.warning("knowledge: reranking by %s failed: %s", self._reranker.name, error)
            return hits, False
        if len(numbers) != len(hits):
            _LOG.warning(
                "knowledge: reranking by %s failed: %d answers for %d texts",
                self._reranker.name,
                len(numbers),
                len(hits),
            )
            return hits, False
        return _use_order(hits, numbers), True

    async def _read_documents(self, hits: Sequence[Hit]) -> dict[str, StoredDocument]:
        found: dict[str, StoredDocument] = {}
        for id_ in {hit.piece.document for hit in hits}:
            document = await self._documents.get(id_)
            if document is not None:
                found[id_] = document
        return found

    async def _look(
        self,
        bases: Sequence[SearchedBase],
        scope: DocumentScope,
        failures: Mapping[str, str],
        stages: Mapping[str, tuple[str, ...]],
    ) -> tuple[BaseLook, ...]:
        counts = await self._documents.count_ready(scope)
        waiting: dict[str, list[str]] = {}
        for document in await self._documents.list_visible(
            scope, states=_NOT_READY, limit=_MAX_NOT_READY
        ):
            if not document.answers:
                waiting.setdefault(document.base, []).append(document.id)
        looks: list[BaseLook] = []
        for base in bases:
            count = counts.get(base.id)
            failure = failures.get(base.id, "")
            looks.append(
                BaseLook(
                    base=base.id,
                    name=base.name,
                    stages=() if failure else stages[base.id],
                    documents=count.documents if count else 0,
                    pieces=count.pieces if count else 0,
                    not_ready=tuple(waiting.get(base.id, ())),
                    failure=failure,
                )
            )
        return tuple(looks)


def _list_stages(
    bases: Sequence[SearchedBase], meanings: Mapping[str, MeaningMatches], *, last: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """The stages that ran, by base."""
    with_meaning = {base for meaning in meanings.values() for base in meaning.bases}
    return {
        base.id: ("words", *(("meaning",) if base.id in with_meaning else ()), *last)
        for base in bases
    }


def _use_order(hits: Sequence[Hit], numbers: Sequence[float]) -> list[Hit]:
    """Hits in the order of a reranker, which takes over their scores, best first.

    So a score means the same with and without a reranker.
    """
    order = sorted(range(len(hits)), key=lambda at: (-numbers[at], at))
    scores = sorted((hit.score for hit in hits), reverse=True)
    return [
        replace(
            hits[at],
            score=score,
            stages={**hits[at].stages, "rerank": rank},
            scores={**hits[at].scores, "rerank": score},
        )
        for rank, (at, score) in enumerate(zip(order, scores, strict=True), 1)
    ]


def _name(hit: Hit, documents: Mapping[str, StoredDocument]) -> Hit:
    document = documents.get(hit.piece.document)
    if document is None:
        return hit
    return replace(hit, title=document.title or document.name, edition=document.edition)
