"""Pieces of documents and how they are found, in every storage."""

import asyncio
from itertools import count
from typing import Any

import pytest
from msgspec import structs
from tests.storage.test_documents import ADA, BOB, a_document, a_scope

from pegboard.core.knowledge import Piece
from pegboard.core.ports.knowledge.document_store import DocumentScope
from pegboard.core.ports.knowledge.index import IndexedPiece, VectorMatches
from pegboard.core.principal import LOCAL
from pegboard.errors import DocumentNotFound, InvalidRequest
from pegboard.storage import Storage
from pegboard.storage.knowledge.entry_codec import decode_terms
from pegboard.storage.sql.knowledge import index as sql_index

MODEL = "test:small"
EAST, NORTH, WEST = (1.0, 0.0), (0.0, 2.0), (-1.0, 0.0)


def a_piece(document: str, number: int, text: str, **changes: Any) -> Piece:
    fields: dict[str, Any] = {
        "id": f"{document}.{number}",
        "document": document,
        "base": "b1",
        "number": number,
        "text": text,
        "start": 0,
        "end": len(text),
    }
    return Piece(**(fields | changes))


def indexed(piece: Piece, *vectors: tuple[float, ...]) -> IndexedPiece:
    return IndexedPiece(piece=piece, words=piece.text, vectors=vectors)


async def put(storage: Storage, document: str, *texts: str, **changes: Any) -> list[Piece]:
    """Store a document whose pieces are these texts."""
    base = changes.get("base", "b1")
    await storage.documents.add(a_document(document, **changes))
    pieces = [
        a_piece(document, number, text, base=base, page=number)
        for number, text in enumerate(texts, 1)
    ]
    await storage.knowledge_index.put(document, 1, [indexed(piece) for piece in pieces])
    return pieces


async def find(storage: Storage, question: str, scope: Any = None, limit: int = 10) -> list[str]:
    terms = dict.fromkeys(question.split(), 1.0)
    found = await storage.knowledge_index.search_words(terms, scope or a_scope(), limit=limit)
    return [item.piece.id for item in found.pieces]


async def near(storage: Storage, vector: tuple[float, ...], scope: Any = None) -> list[str]:
    found = await storage.knowledge_index.search_vectors(
        vector, scope or a_scope(), embedder=MODEL, limit=10
    )
    return [item.piece.id for item in found.pieces]


async def test_pieces_are_found_by_their_rare_words_first(storage: Storage, other: Storage) -> None:
    pieces = await put(storage, "d1", "the cat sat", "the dog ran", "the cat and the dog")

    found = await other.knowledge_index.search_words({"cat": 1, "sat": 1}, a_scope(), limit=10)

    assert [item.piece for item in found.pieces] == [pieces[0], pieces[2]]
    assert found.rarities["sat"] > found.rarities["cat"]
    assert await find(other, "the", limit=2) == ["d1.3", "d1.1"]
    assert await find(other, "bird") == []


async def test_searches_at_once_share_the_work_of_loading(
    storage: Storage, other: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        await put(storage, f"d{number}", f"the cat sat {number}")
    starts = count(step=3)
    decoded: list[bytes] = []

    def decode(body: bytes) -> object:
        decoded.append(body)
        return decode_terms(body)

    monkeypatch.setattr(sql_index, "_LOADED_AT_ONCE", 2)
    monkeypatch.setattr(sql_index, "randrange", lambda end: next(starts) % end)
    monkeypatch.setattr(sql_index, "decode_terms", decode)

    found = await asyncio.gather(*[find(other, "cat", limit=50) for _ in range(6)])

    assert [len(those) for those in found] == [40] * 6
    assert len(decoded) < 120  # each on its own would decode 240


async def test_a_long_piece_is_found_by_its_best_passage(storage: Storage) -> None:
    await put(storage, "d1", "red blue\nred green", "red green", "blue\ngreen")

    found = await storage.knowledge_index.search_words({"red": 1, "green": 1}, a_scope(), limit=10)

    assert [item.piece.id for item in found.pieces] == ["d1.1", "d1.2", "d1.3"]
    assert found.pieces[0].score == found.pieces[1].score > found.pieces[2].score


async def test_new_content_takes_the_place_of_the_old(storage: Storage, other: Storage) -> None:
    await put(storage, "d1", "old words")
    assert await find(other, "old") == ["d1.1"]

    new = a_piece("d1", 1, "new words", id="d1.new")
    await storage.knowledge_index.put("d1", 2, [indexed(new)])

    assert await find(other, "old") == []
    assert await find(other, "words") == ["d1.new"]
    assert list(await other.knowledge_index.list_pieces("d1")) == [new]


async def test_what_is_deleted_is_found_no_more(storage: Storage, other: Storage) -> None:
    await put(storage, "d1", "one")
    await put(storage, "d2", "one")
    assert await find(other, "one") == ["d1.1", "d2.1"]

    await storage.documents.delete("d1")

    assert await find(other, "one") == ["d2.1"]
    assert list(await other.knowledge_index.list_pieces("d1")) == []
    with pytest.raises(DocumentNotFound):
        await storage.knowledge_index.put("d1", 1, [indexed(a_piece("d1", 1, "one"))])
    assert await find(other, "one") == ["d2.1"]


async def test_only_what_is_ready_and_in_the_scope_is_found(storage: Storage) -> None:
    await put(storage, "d1", "word", audience="private")
    await put(storage, "d2", "word", state="storing", answers=False)
    await put(storage, "d3", "word", replaced_by="d1")
    await put(storage, "d4", "word", base="b2")
    every = a_scope(ADA, "b1", "b2", include_replaced=True)

    assert await find(storage, "word", a_scope(ADA)) == ["d1.1"]
    assert await find(storage, "word", a_scope(BOB)) == []
    assert await find(storage, "word", every) == ["d1.1", "d3.1", "d4.1"]
    got = await storage.knowledge_index.get_pieces(["d4.1", "d2.1", "d1.1", "no"], every)
    assert [piece.id for piece in got] == ["d4.1", "d1.1"]


async def test_pages_are_a_filter(storage: Storage) -> None:
    await put(storage, "d1", "word", "word", "word")

    scope = a_scope(first_page=2, last_page=2)
    assert await find(storage, "word", scope) == ["d1.2"]
    assert (await storage.documents.count_ready(scope))["b1"].pieces == 1
    assert (await storage.documents.count_ready(a_scope()))["b1"].pieces == 3
    assert await storage.documents.count_ready(a_scope(first_page=4)) == {}


async def test_pieces_are_listed_in_order(storage: Storage) -> None:
    pieces = await put(storage, "d1", "one", "two", "three")

    assert list(await storage.knowledge_index.list_pieces("d1", start=2)) == pieces[1:]
    assert list(await storage.knowledge_index.list_pieces("d1", limit=1)) == pieces[:1]


async def test_pieces_are_found_by_their_nearest_passage(storage: Storage, other: Storage) -> None:
    pieces = await put(storage, "d1", "one", "two", "three", "four")
    await storage.knowledge_index.put(
        "d1",
        2,
        [
            indexed(pieces[0], EAST),
            indexed(pieces[1], NORTH),
            indexed(pieces[2], WEST, (1.0, 1.0)),
            indexed(pieces[3]),
        ],
        embedder=MODEL,
    )

    assert await near(other, (3.0, 0.1)) == ["d1.1", "d1.3", "d1.2"]
    found = await other.knowledge_index.search_vectors(NORTH, a_scope(), embedder=MODEL, limit=1)
    assert [(item.piece.id, round(item.score, 5)) for item in found.pieces] == [("d1.2", 1.0)]
    assert found.passages == 4
    assert found.mean == pytest.approx((0 + 1 + 0 + 2**-0.5) / 4, abs=1e-5)
    assert await near(other, NORTH, a_scope(first_page=3)) == ["d1.3"]
    nothing = await other.knowledge_index.search_vectors(
        EAST, a_scope(), embedder="test:other", limit=9
    )
    assert nothing == VectorMatches(pieces=[])


async def test_vectors_of_another_model_are_made_beside_the_old(
    storage: Storage, other: Storage
) -> None:
    await put(storage, "d1", "one", "two")
    index = storage.knowledge_index
    await index.put_vectors(MODEL, {"d1.1": [EAST], "d1.2": [NORTH], "gone": [EAST]})
    assert await near(other, EAST) == ["d1.1"]
    assert await index.count_without_vectors("b1", "test:new") == 2

    await index.put_vectors("test:new", {"d1.2": [(1.0, 0.0, 0.0)]})

    assert await index.count_without_vectors("b1", "test:new") == 1
    left = await index.list_without_vectors("b1", "test:new")
    assert [piece.id for piece in left] == ["d1.1"]
    assert list(await index.list_with_vectors("d1", "test:new")) == ["d1.2"]
    assert await near(other, EAST) == ["d1.1"]
    assert await index.count_vectors("b1") == {MODEL: 2, "test:new": 1}
    assert await index.count_vectors("b2") == {}
    await index.delete_vectors("b1", MODEL)
    assert await index.count_vectors("b1") == {"test:new": 1}
    assert await near(other, EAST) == []
    assert list(await index.list_with_vectors("d1", MODEL)) == []


async def test_unchanged_pieces_keep_their_vectors(storage: Storage, other: Storage) -> None:
    pieces = await put(storage, "d1", "one", "two")
    await storage.knowledge_index.put_vectors(MODEL, {"d1.1": [EAST], "d1.2": [NORTH]})
    moved = a_piece("d1", 2, "one", id="d1.1")
    changed = a_piece("d1", 1, "zero", id="d1.0")

    await storage.knowledge_index.put(
        "d1", 2, [indexed(changed, WEST), indexed(moved)], embedder=MODEL
    )

    assert pieces[1].id not in await storage.knowledge_index.list_with_vectors("d1", MODEL)
    assert await near(other, EAST) == ["d1.1"]
    assert await near(other, WEST) == ["d1.0"]


async def test_pieces_that_have_moved_take_the_vectors_of_all_models_along(
    storage: Storage, other: Storage
) -> None:
    await put(storage, "d1", "one", "two")
    index = storage.knowledge_index
    await index.put_vectors(MODEL, {"d1.1": [EAST], "d1.2": [NORTH]})
    await index.put_vectors("test:new", {"d1.1": [WEST]})
    texts = {"d1.new": "zero", "d1.a": "one", "d1.b": "one"}
    new = [a_piece("d1", at, text, id=id_) for at, (id_, text) in enumerate(texts.items(), 1)]
    old = {"d1.a": "d1.1", "d1.b": "d1.1"}

    moved = [structs.replace(indexed(it), same_as=old.get(it.id, "")) for it in new[1:]]
    await index.put("d1", 2, [indexed(new[0], WEST), *moved], embedder=MODEL)

    assert list(await index.list_with_vectors("d1", MODEL)) == ["d1.a", "d1.b", "d1.new"]
    assert list(await index.list_with_vectors("d1", "test:new")) == ["d1.a", "d1.b"]
    assert (await near(other, EAST))[:2] == ["d1.a", "d1.b"]


@pytest.mark.parametrize(
    "vectors",
    [((1.0,), (1.0, 2.0)), ((float("nan"), 1.0),), ((),)],
    ids=["several lengths", "no number", "empty"],
)
async def test_vectors_that_cannot_be_compared_are_refused(
    storage: Storage, vectors: tuple[tuple[float, ...], ...]
) -> None:
    await put(storage, "d1", "one")
    with pytest.raises(InvalidRequest, match="vector"):
        await storage.knowledge_index.put_vectors(MODEL, {"d1.1": vectors})
    assert await storage.knowledge_index.count_without_vectors("b1", MODEL) == 1


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_limit_of_none_finds_none(storage: Storage, limit: int) -> None:
    await put(storage, "d1", "one")
    assert await find(storage, "one", limit=limit) == []


async def test_documents_without_pieces_and_no_bases_are_no_fault(storage: Storage) -> None:
    await put(storage, "d1")
    await put(storage, "d2", "", "one")

    assert await find(storage, "one") == ["d2.2"]
    assert await find(storage, "one", DocumentScope(bases=(), principal=LOCAL)) == []
    assert await near(storage, EAST) == []


async def test_text_that_no_encoding_has_is_stored_and_found(storage: Storage) -> None:
    (piece,) = await put(storage, "d1", "half\udc00 nul\x00 word")

    assert await find(storage, "word") == [piece.id]
    assert await find(storage, "half\udc00") == [piece.id]
