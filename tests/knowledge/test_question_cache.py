"""Answers of models to questions that are asked again."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.storage.test_documents import a_document

from pegboard.core.knowledge import Piece, Retrieval
from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.knowledge.document_store import DocumentScope
from pegboard.core.ports.knowledge.reranker import RerankScores
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import Unavailable
from pegboard.knowledge.indexing import embed_pieces, index_piece
from pegboard.knowledge.question_cache import QuestionCache
from pegboard.knowledge.retrieve import Retriever, SearchedBase
from pegboard.storage import MemoryStorage

QUESTIONS = ("paid leave", "leave by train")
TEXTS = ("Thirty days of paid leave.", "Trips by train are paid.", "Leave the train at once.")
CALLERS = (LOCAL, Principal(id="ann", tenant="people"), Principal(id="bob", tenant="people"))


class WordModel:
    """An embedder and reranker that counts the letters of a text, and its requests."""

    def __init__(self, name: str = "test:words") -> None:
        self.name = name
        self.asked = 0
        self.fails = False

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        self.asked += 1
        if self.fails:
            raise Unavailable("It is down.")
        return [[text.count("e") + 0.1, text.count("a") + 0.1] for text in texts]

    async def rerank(self, question: str, texts: Sequence[str], /) -> RerankScores:
        self.asked += 1
        first = set(question)
        scores = [len(first & set(text)) / (1 + len(text)) for text in texts]
        return RerankScores(scores, ModelUsage(requests=1, input_tokens=3))


async def test_a_question_is_embedded_once() -> None:
    cache, model = QuestionCache(), WordModel()
    first = await cache.embed(model, "a question", owner="ann")

    assert await cache.embed(model, "a question", owner="ann") == first
    assert model.asked == 1


@pytest.mark.parametrize(
    ("question", "owner", "is_other_model"),
    [("another", "ann", False), ("a question", "bob", False), ("a question", "ann", True)],
    ids=["another question", "another caller", "another model of the name"],
)
async def test_what_decides_an_answer_is_in_its_key(
    question: str, owner: str, is_other_model: bool
) -> None:
    cache, model, other = QuestionCache(), WordModel(), WordModel()
    await cache.embed(model, "a question", owner="ann")
    await cache.embed(other if is_other_model else model, question, owner=owner)

    assert model.asked + other.asked == 2


async def test_texts_in_another_order_or_cut_elsewhere_are_rated_anew() -> None:
    cache, model = QuestionCache(), WordModel()
    for texts in (["ab", "c"], ["c", "ab"], ["a", "bc"], ["ab", "c"]):
        fresh = await WordModel().rerank("abc", texts)
        found = await cache.rerank(model, "abc", texts, owner="ann")
        assert list(found.scores) == list(fresh.scores)

    assert model.asked == 3


async def test_a_cached_rating_has_used_nothing() -> None:
    cache, model = QuestionCache(), WordModel()
    used = [(await cache.rerank(model, "abc", ["a"], owner="ann")).usage.requests for _ in range(2)]

    assert used == [1, 0]


async def test_a_failure_is_not_cached() -> None:
    cache, model = QuestionCache(), WordModel()
    model.fails = True
    with pytest.raises(Unavailable):
        await cache.embed(model, "a", owner="ann")
    model.fails = False

    assert (await cache.embed(model, "a", owner="ann"))[0] == [0.1, 1.1]


async def test_answers_end_after_an_hour_and_the_oldest_go_first() -> None:
    now = [0.0]
    cache, model = QuestionCache(most=2, monotonic=lambda: now[0]), WordModel()

    async def count(question: str) -> int:
        before = model.asked
        await cache.embed(model, question, owner="ann")
        return model.asked - before

    assert [await count(it) for it in ("a", "b", "a", "c", "a", "b")] == [1, 1, 0, 1, 0, 1]
    now[0] = 3_600.0
    assert await count("b") == 1


async def test_no_text_stays_in_the_cache() -> None:
    cache, model = QuestionCache(), WordModel()
    await cache.rerank(model, "a hidden question", ["a hidden text"], owner="ann")
    await cache.embed(model, "a hidden question", owner="ann")

    assert "hidden" not in repr(vars(cache))


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 3), st.sampled_from(TEXTS)),
        st.tuples(st.just("delete"), st.integers(0, 3)),
        st.tuples(
            st.just("change"),
            st.integers(0, 3),
            st.sampled_from(
                [
                    {"audience": "private"},
                    {"audience": "base"},
                    {"edition": "2026"},
                    {"title": "Another title"},
                    {"replaced_by": "d3"},
                    {"replaced_by": ""},
                    {"answers": False},
                    {"answers": True},
                    {"owner": "people/bob"},
                    {"state": "failed"},
                ]
            ),
        ),
    ),
    min_size=1,
    max_size=5,
)


async def apply(storage: MemoryStorage, change: tuple[Any, ...]) -> None:
    id_ = f"d{change[1]}"
    if change[0] == "delete":
        await storage.documents.delete(id_)
    elif change[0] == "change":
        await storage.documents.change(id_, change[2])
    else:
        await storage.documents.add(a_document(id_, base="b", owner="people/ann"))
        text = change[2]
        piece = Piece(
            id=f"{id_}.1", document=id_, base="b", number=1, text=text, start=0, end=len(text)
        )
        await storage.knowledge_index.put(id_, 1, [index_piece(piece)])
        vectors = await embed_pieces([piece], WordModel())
        await storage.knowledge_index.put_vectors("test:words", vectors)


async def ask_all(retriever: Retriever, model: WordModel) -> list[Retrieval]:
    bases = [SearchedBase(id="b", name="b", embedder=model)]
    return [
        await retriever.retrieve(question, bases, DocumentScope(bases=(), principal=caller))
        for caller in CALLERS
        for question in QUESTIONS
    ]


@settings(max_examples=10, deadline=None)
@given(changes=CHANGES)
def test_an_answer_equals_a_fresh_one_after_any_change_of_documents(
    changes: list[tuple[Any, ...]],
) -> None:
    async def compare() -> None:
        storage, model = MemoryStorage(), WordModel()

        def make() -> Retriever:
            return Retriever(
                storage.documents, storage.knowledge_index, find_reranker=lambda: model
            )

        lasting = make()
        await apply(storage, ("put", 0, TEXTS[0]))
        await ask_all(lasting, model)
        for change in changes:
            await apply(storage, change)
            assert await ask_all(lasting, model) == await ask_all(make(), model)

    asyncio.run(compare())
