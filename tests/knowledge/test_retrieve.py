"""Retrieval over several bases."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.storage.test_documents import a_document, a_scope

from pegboard.core.knowledge import BaseLook, Piece
from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.knowledge.document_store import DocumentScope
from pegboard.core.ports.knowledge.index import KnowledgeIndex, WordMatches
from pegboard.core.ports.knowledge.reranker import RerankScores
from pegboard.errors import ConfigError, StoreUnavailable, Unavailable
from pegboard.knowledge.indexing import embed_pieces, index_piece
from pegboard.knowledge.retrieve import Retriever, SearchedBase
from pegboard.storage import MemoryStorage

TEXTS = {
    "b1": {
        "leave": "Employees have thirty days of paid leave each year.",
        "travel": "Trips by train are paid in second class.",
    },
    "b2": {"refund": "A customer may return a purchase within thirty days of delivery."},
}
MEANINGS = {"leave": (1.0, 0.0), "travel": (0.0, 1.0), "holiday": (0.9, 0.1)}


class TopicEmbedder:
    """Gives a text the vector of the first topic whose word it has."""

    name = "test:topics"

    def __init__(self, *, fails: bool = False) -> None:
        self._fails = fails

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        if self._fails:
            raise Unavailable("The model does not answer.")
        return [
            list(next((row for word, row in MEANINGS.items() if word in text), (0.5, 0.5)))
            for text in texts
        ]


@pytest.fixture
async def storage() -> MemoryStorage:
    storage = MemoryStorage()
    for base, documents in TEXTS.items():
        for name, text in documents.items():
            await storage.documents.add(
                a_document(name, base=base, title=name.title(), edition="2026")
            )
            piece = Piece(
                id=f"{name}.1",
                document=name,
                base=base,
                number=1,
                text=text,
                start=0,
                end=len(text),
            )
            await storage.knowledge_index.put(name, 1, [index_piece(piece, title=name)])
            vectors = await embed_pieces([piece], TopicEmbedder())
            await storage.knowledge_index.put_vectors(TopicEmbedder.name, vectors)
    return storage


def bases(**changes: Any) -> list[SearchedBase]:
    return [SearchedBase(id=base, name=f"Base {base}", **changes) for base in TEXTS]


async def ask(storage: Any, question: str, those: list[SearchedBase], **options: Any) -> Any:
    retriever = Retriever(storage.documents, options.pop("index", storage.knowledge_index))
    return await retriever.retrieve(question, those, options.pop("scope", a_scope()), **options)


async def test_several_bases_are_searched_by_words_and_say_so(storage: MemoryStorage) -> None:
    found = await ask(storage, "How many days can a customer return a purchase?", bases())

    assert [hit.piece.document for hit in found.hits][:1] == ["refund"]
    first = found.hits[0]
    assert (first.title, first.edition, first.stages) == ("Refund", "2026", {"words": 1})
    assert [hit.score for hit in found.hits] == sorted(
        (hit.score for hit in found.hits), reverse=True
    )
    assert found.looks == (
        BaseLook(base="b1", name="Base b1", stages=("words",), documents=2, pieces=2),
        BaseLook(base="b2", name="Base b2", stages=("words",), documents=1, pieces=1),
    )


async def test_a_piece_without_the_words_of_a_question_is_found_by_its_meaning(
    storage: MemoryStorage,
) -> None:
    question = "holiday"
    assert (await ask(storage, question, bases())).hits == ()

    found = await ask(storage, question, bases(embedder=TopicEmbedder()))

    assert found.hits[0].piece.document == "leave"
    assert found.hits[0].stages == {"meaning": 1}
    assert {look.stages for look in found.looks} == {("words", "meaning")}


async def test_an_embedder_that_fails_leaves_the_words(storage: MemoryStorage) -> None:
    found = await ask(storage, "paid leave", bases(embedder=TopicEmbedder(fails=True)))

    assert found.hits[0].piece.document == "leave"
    assert {(look.stages, look.skipped) for look in found.looks} == {(("words",), ("meaning",))}


class LengthReranker:
    """Prefers short texts."""

    name = "test:short"

    def __init__(self, *, fails: bool = False, answers: int | None = None) -> None:
        self._fails = fails
        self._answers = answers
        self.asked = 0

    async def rerank(self, question: str, texts: Sequence[str], /) -> RerankScores:
        self.asked += 1
        if self._fails:
            raise Unavailable("The model does not answer.")
        scores = [-float(len(text)) for text in texts][: self._answers]
        return RerankScores(scores, ModelUsage(requests=1, input_tokens=7))


async def rerank(storage: MemoryStorage, reranker: LengthReranker | None) -> Any:
    retriever = Retriever(
        storage.documents, storage.knowledge_index, find_reranker=lambda: reranker
    )
    return await retriever.retrieve("thirty days of paid leave", bases(), a_scope())


async def test_a_reranker_changes_the_order_and_not_what_scores_mean(
    storage: MemoryStorage,
) -> None:
    before = await rerank(storage, None)
    after = await rerank(storage, LengthReranker())

    assert [hit.score for hit in after.hits] == [hit.score for hit in before.hits]
    lengths = [len(hit.piece.text) for hit in after.hits]
    assert lengths == sorted(lengths)
    assert [hit.stages["rerank"] for hit in after.hits] == [1, 2, 3]
    assert after.looks[0].stages == ("words", "rerank")


@pytest.mark.parametrize(
    "reranker", [LengthReranker(fails=True), LengthReranker(answers=1)], ids=["fails", "too few"]
)
async def test_a_reranker_that_fails_leaves_the_order_and_is_named(
    storage: MemoryStorage, reranker: LengthReranker
) -> None:
    found, plain = await rerank(storage, reranker), await rerank(storage, None)

    assert found.hits == plain.hits
    assert {(look.stages, look.skipped) for look in found.looks} == {(("words",), ("rerank",))}


async def test_a_reranker_that_is_not_configured_well_leaves_the_order_and_is_named(
    storage: MemoryStorage,
) -> None:
    def find() -> LengthReranker:
        raise ConfigError("It needs a 'base_url'.")

    retriever = Retriever(storage.documents, storage.knowledge_index, find_reranker=find)
    found = await retriever.retrieve("thirty days of paid leave", bases(), a_scope())

    assert found.hits == (await rerank(storage, None)).hits
    assert found.looks[0].skipped == ("rerank",)


async def test_a_reranker_is_asked_once_for_the_same_texts_and_reported_once(
    storage: MemoryStorage,
) -> None:
    reranker = LengthReranker()
    retriever = Retriever(
        storage.documents, storage.knowledge_index, find_reranker=lambda: reranker
    )
    used: list[tuple[str, int]] = []

    def report(name: str, usage: ModelUsage) -> None:
        used.append((name, usage.input_tokens))

    question = "thirty days of paid leave"
    first = await retriever.retrieve(question, bases(), a_scope(), report=report)
    again = await retriever.retrieve(question, bases(), a_scope(), report=report)
    assert (first, reranker.asked, used) == (again, 1, [("test:short", 7)])

    await storage.documents.delete("travel")
    await retriever.retrieve(question, bases(), a_scope())
    assert reranker.asked == 2


class BrokenIndex:
    """An index of which one base cannot be read."""

    def __init__(self, index: KnowledgeIndex, broken: str) -> None:
        self._index = index
        self._broken = broken

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    async def search_words(
        self, terms: Mapping[str, float], scope: DocumentScope, *, limit: int
    ) -> WordMatches:
        if self._broken in scope.bases:
            raise StoreUnavailable("Its segments are damaged.")
        return await self._index.search_words(terms, scope, limit=limit)


async def test_a_base_that_fails_does_not_end_the_search_of_the_others(
    storage: MemoryStorage,
) -> None:
    index = BrokenIndex(storage.knowledge_index, "b1")

    found = await ask(storage, "thirty days", bases(), index=index)

    assert [hit.piece.document for hit in found.hits] == ["refund"]
    assert [(look.failure, look.stages) for look in found.looks] == [
        ("Its segments are damaged.", ()),
        ("", ("words",)),
    ]


async def test_documents_that_do_not_answer_yet_are_named(storage: MemoryStorage) -> None:
    await storage.documents.add(a_document("new", state="cutting", answers=False, title="Handbook"))
    await storage.documents.add(a_document("broken", state="failed", answers=False))

    found = await ask(storage, "leave", bases())

    assert found.looks[0].not_ready == ("broken", "new")
    assert found.looks[1].not_ready == ()


@pytest.mark.parametrize("question", ["", "   ", "?!"])
async def test_a_question_without_words_finds_nothing(
    storage: MemoryStorage, question: str
) -> None:
    assert (await ask(storage, question, bases())).hits == ()
