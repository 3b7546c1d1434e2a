"""`Retriever`: the best pieces of several bases for a question.

All bases are searched by words at once, those with an embedder by meaning as well, and a reranker
orders the best of both, where there is one.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from pegboard.concurrency.exception_groups import unwrap_single_error
from pegboard.core.knowledge import UNFINISHED, BaseLook, Hit, Retrieval
from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.embedder import Embedder
from pegboard.core.ports.knowledge.document_store import (
    DocumentScope,
    DocumentStore,
    ReadyCount,
    StoredDocument,
)
from pegboard.core.ports.knowledge.index import KnowledgeIndex, ScoredPiece, WordMatches
from pegboard.core.ports.knowledge.reranker import Reranker
from pegboard.errors import PegboardError
from pegboard.knowledge.fusion import MeaningMatches, fuse
from pegboard.knowledge.question_cache import QuestionCache
from pegboard.knowledge.terms import weigh_question

_LOG = logging.getLogger("pegboard.knowledge")
_CANDIDATES = 100
"""Pieces that each stage finds, before they are joined."""
_NOT_READY = (*UNFINISHED, "held", "failed")
_MAX_NOT_READY = 20
_RERANKED = 40
"""Pieces that a reranker reads."""


class SearchedBase(Struct, frozen=True, kw_only=True):
    """A base to search.

    Attributes:
        embedder: The model that made the vectors that answer; None to search by words.
        is_missing: Whether the base names a model that this board does not have.
    """

    id: str
    name: str
    embedder: Embedder | None = None
    is_missing: bool = False


class _Reranked(Struct, frozen=True):
    """Hits after the stage of the reranker.

    Attributes:
        stage: `("rerank",)` if it ran.
        skipped: The same if it failed.
    """

    hits: Sequence[Hit]
    stage: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


class _Counts(Struct, frozen=True):
    """What a caller may see, by base: how much is ready, and documents that are not."""

    ready: Mapping[str, ReadyCount]
    waiting: Mapping[str, Sequence[str]]


class Retriever:
    """Finds pieces for questions.

    Args:
        documents: Has the documents.
        index: Has their pieces.
        find_reranker: The model that orders what was found; None where there is none.
    """

    def __init__(
        self,
        documents: DocumentStore,
        index: KnowledgeIndex,
        *,
        find_reranker: Callable[[], Reranker | None] = lambda: None,
    ) -> None:
        self._documents = documents
        self._index = index
        self._find_reranker = find_reranker
        self._cache = QuestionCache()

    async def retrieve(
        self,
        question: str,
        bases: Sequence[SearchedBase],
        scope: DocumentScope,
        *,
        limit: int = 8,
        report: Callable[[str, ModelUsage], None] | None = None,
    ) -> Retrieval:
        """The best pieces, and how each base was searched; one that fails does not end it.

        Args:
            question: In the words of a person or a model.
            bases: Those that the caller may see.
            scope: The caller and filters; its `bases` are replaced by those of `bases`.
            limit: At most so many pieces.
            report: Called with the names of the embedders and the reranker, and what they used.
        """
        scope = replace(scope, bases=tuple(base.id for base in bases))
        terms = weigh_question(question)
        words, failures, meanings, counts = await self._search(
            question, terms, bases, scope, report
        )
        hits = fuse(terms, words, tuple(meanings.values()), limit=max(limit, _RERANKED))
        reranked = await self._rerank(question, hits, scope.principal.owner, report)
        hits = reranked.hits[:limit]
        titles = await self._documents.get_all({hit.piece.document for hit in hits})
        looks = _make_looks(bases, counts, failures)
        with_meaning = {base for meaning in meanings.values() for base in meaning.bases}
        return Retrieval(
            question=question,
            hits=tuple(_name(hit, titles) for hit in hits),
            looks=tuple(
                _add_stages(look, base, with_meaning, reranked)
                for look, base in zip(looks, bases, strict=True)
            ),
        )

    async def _search(
        self,
        question: str,
        terms: Mapping[str, float],
        bases: Sequence[SearchedBase],
        scope: DocumentScope,
        report: Callable[[str, ModelUsage], None] | None,
    ) -> tuple[WordMatches, dict[str, str], dict[str, MeaningMatches], _Counts]:
        """What is found by words, why bases could not be searched, what by meaning, and counts.

        All at once: one searches while another waits for its model or the database.
        """
        try:
            async with asyncio.TaskGroup() as group:
                by_words = group.create_task(self._search_words(terms, scope))
                by_meaning = group.create_task(
                    self._search_meanings(question, bases, scope, report)
                )
                counts = group.create_task(self._count(scope))
        except BaseExceptionGroup as errors:
            raise unwrap_single_error(errors) from errors
        return *by_words.result(), by_meaning.result(), counts.result()

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
        self,
        question: str,
        bases: Sequence[SearchedBase],
        scope: DocumentScope,
        report: Callable[[str, ModelUsage], None] | None,
    ) -> dict[str, MeaningMatches]:
        """What is nearest in the bases of each embedder, by its name."""
        embedders = {base.embedder.name: base.embedder for base in bases if base.embedder}
        found: dict[str, MeaningMatches] = {}
        for name, embedder in embedders.items():
            ids = tuple(it.id for it in bases if it.embedder and it.embedder.name == name)
            try:
                vector, usage = await self._cache.embed(
                    embedder, question, owner=scope.principal.owner
                )
                if report is not None and usage.requests:
                    report(name, usage)
                matches = await self._index.search_vectors(
                    vector, replace(scope, bases=ids), embedder=name, limit=_CANDIDATES
                )
                is_full = len(matches.pieces) == _CANDIDATES
                found[name] = MeaningMatches(matches, ids, is_full=is_full)
            except PegboardError as error:
                _LOG.warning("knowledge: searching by the vectors of %s failed: %s", name, error)
        return found

    async def _rerank(
        self,
        question: str,
        hits: Sequence[Hit],
        owner: str,
        report: Callable[[str, ModelUsage], None] | None,
    ) -> _Reranked:
        """The hits in the order of the reranker, if there is one and it answers."""
        if not hits:
            return _Reranked(hits)
        name = ""
        try:
            reranker = self._find_reranker()
            if reranker is None:
                return _Reranked(hits)
            name = f" by {reranker.name}"
            texts = [_join(hit.piece.heading, hit.piece.text) for hit in hits]
            found = await self._cache.rerank(reranker, question, texts, owner=owner)
        except PegboardError as error:
            _LOG.warning("knowledge: reranking%s failed: %s", name, error)
            return _Reranked(hits, skipped=("rerank",))
        if len(found.scores) != len(hits):
            _LOG.warning(
                "knowledge: reranking%s failed: %d answers for %d texts",
                name,
                len(found.scores),
                len(hits),
            )
            return _Reranked(hits, skipped=("rerank",))
        if report is not None and found.usage.requests:
            report(reranker.name, found.usage)
        return _Reranked(_use_order(hits, found.scores), stage=("rerank",))

    async def _count(self, scope: DocumentScope) -> _Counts:
        ready = await self._documents.count_ready(scope)
        waiting: dict[str, list[str]] = {}
        for document in await self._documents.list_visible(
            scope, states=_NOT_READY, limit=_MAX_NOT_READY
        ):
            if not document.answers:
                waiting.setdefault(document.base, []).append(document.id)
        return _Counts(ready, waiting)


def _make_looks(
    bases: Sequence[SearchedBase], counts: _Counts, failures: Mapping[str, str]
) -> tuple[BaseLook, ...]:
    looks: list[BaseLook] = []
    for base in bases:
        count = counts.ready.get(base.id)
        looks.append(
            BaseLook(
                base=base.id,
                name=base.name,
                documents=count.documents if count else 0,
                pieces=count.pieces if count else 0,
                not_ready=tuple(counts.waiting.get(base.id, ())),
                failure=failures.get(base.id, ""),
            )
        )
    return tuple(looks)


def _add_stages(
    look: BaseLook, base: SearchedBase, with_meaning: Collection[str], reranked: _Reranked
) -> BaseLook:
    """A look with the stages that ran, and those that failed."""
    if look.failure:
        return look
    has_meaning = base.id in with_meaning
    return replace(
        look,
        stages=("words", *(("meaning",) if has_meaning else ()), *reranked.stage),
        skipped=(
            *(("meaning",) if (base.embedder or base.is_missing) and not has_meaning else ()),
            *reranked.skipped,
        ),
    )


def _join(heading: str, text: str) -> str:
    """A text below its headings, as a reranker reads it."""
    return f"{heading}\n{text}" if heading else text


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
