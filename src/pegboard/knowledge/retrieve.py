"""`Retriever`: the best pieces of several bases for a question.

Each base is searched by words, and by meaning where it has an embedder. The two are joined by a
convex sum of their normalised scores; ranks alone (reciprocal rank fusion) lose against BM25 on
texts with identifiers.
"""

import logging
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from pegboard.core.knowledge import BaseLook, Hit, Piece, Retrieval
from pegboard.core.ports.document_store import DocumentScope, DocumentStore, StoredDocument
from pegboard.core.ports.embedder import Embedder
from pegboard.core.ports.knowledge_index import KnowledgeIndex, ScoredPiece, WordMatches
from pegboard.errors import PegboardError
from pegboard.knowledge.terms import PAIR, weigh_question

_LOG = logging.getLogger("pegboard.knowledge")
_CANDIDATES = 100
"""Pieces that each stage finds, before they are joined."""
_NOT_READY = ("waiting", "converting", "cutting", "embedding", "storing", "held", "failed")
_MAX_NOT_READY = 20
_MEANING = 0.5


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

    def __init__(self, documents: DocumentStore, index: KnowledgeIndex) -> None:
        """Search these."""
        self._documents = documents
        self._index = index

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
        hits = _join(words, terms, meanings, limit)
        titles = await self._read_documents(hits)
        return Retrieval(
            question=question,
            hits=tuple(_name(hit, titles) for hit in hits),
            looks=await self._look(bases, scope, failures, meanings),
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
    ) -> dict[str, Sequence[ScoredPiece]]:
        """What is nearest in the bases of each embedder, by its name."""
        embedders = {base.embedder.name: base.embedder for base in bases if base.embedder}
        found: dict[str, Sequence[ScoredPiece]] = {}
        for name, embedder in embedders.items():
            ids = tuple(it.id for it in bases if it.embedder and it.embedder.name == name)
            try:
                (vector,) = await embedder.embed([question])
                found[name] = await self._index.search_vectors(
                    vector, replace(scope, bases=ids), embedder=name, limit=_CANDIDATES
                )
            except PegboardError as error:
                _LOG.warning("knowledge: searching by the vectors of %s failed: %s", name, error)
        return found

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
        meanings: Mapping[str, Sequence[ScoredPiece]],
    ) -> tuple[BaseLook, ...]:
        counts = await self._documents.count_ready(scope)
        waiting: dict[str, list[str]] = {}
        for document in await self._documents.list_visible(
            scope, states=_NOT_READY, limit=_MAX_NOT_READY
        ):
            waiting.setdefault(document.base, []).append(document.title or document.name)
        looks: list[BaseLook] = []
        for base in bases:
            count = counts.get(base.id)
            has_meaning = base.embedder is not None and base.embedder.name in meanings
            failure = failures.get(base.id, "")
            stages = () if failure else ("words", *(("meaning",) if has_meaning else ()))
            looks.append(
                BaseLook(
                    base=base.id,
                    name=base.name,
                    stages=stages,
                    documents=count.documents if count else 0,
                    pieces=count.pieces if count else 0,
                    not_ready=tuple(waiting.get(base.id, ())),
                    failure=failure,
                )
            )
        return tuple(looks)


def _join(
    words: WordMatches,
    terms: Mapping[str, float],
    meanings: Mapping[str, Sequence[ScoredPiece]],
    limit: int,
) -> list[Hit]:
    """The best pieces by the convex sum of their scores."""
    ceiling = sum(
        weight * words.rarities.get(term, 0.0) for term, weight in terms.items() if PAIR not in term
    )
    stages: dict[str, list[tuple[Piece, float]]] = {
        "words": [(it.piece, min(1.0, it.score / ceiling)) for it in words.pieces if ceiling],
        "meaning": sorted(
            ((it.piece, max(0.0, it.score)) for found in meanings.values() for it in found),
            key=lambda item: -item[1],
        ),
    }
    pieces = {piece.id: piece for found in stages.values() for piece, _ in found}
    ranks: dict[str, dict[str, int]] = {key: {} for key in pieces}
    scores: dict[str, dict[str, float]] = {key: {} for key in pieces}
    for stage, found in stages.items():
        for rank, (piece, score) in enumerate(found, 1):
            ranks[piece.id][stage] = rank
            scores[piece.id][stage] = score
    has_meaning = bool(meanings)
    best = sorted(pieces, key=lambda key: -_sum(scores[key], has_meaning=has_meaning))
    return [
        Hit(
            piece=pieces[key],
            score=_sum(scores[key], has_meaning=has_meaning),
            stages=ranks[key],
            scores=scores[key],
        )
        for key in best[:limit]
    ]


def _sum(scores: Mapping[str, float], *, has_meaning: bool) -> float:
    words = scores.get("words", 0.0)
    if not has_meaning:
        return words
    return (1 - _MEANING) * words + _MEANING * scores.get("meaning", 0.0)


def _name(hit: Hit, documents: Mapping[str, StoredDocument]) -> Hit:
    document = documents.get(hit.piece.document)
    if document is None:
        return hit
    return replace(hit, title=document.title or document.name, edition=document.edition)
