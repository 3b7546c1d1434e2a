"""Segments of knowledge bases in a database: packed, loaded, and gone with what is deleted."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import select, update
from tests.storage.made import a_storage
from tests.storage.test_documents import a_scope
from tests.storage.test_knowledge_index import EAST, MODEL, a_piece, find, indexed, put

from pegboard.storage.knowledge.entry_codec import hash_term
from pegboard.storage.knowledge.segment_codec import decode_segment
from pegboard.storage.knowledge_tables import PIECE_SEGMENTS, PIECE_TERMS, PIECE_VECTORS
from pegboard.storage.sql.knowledge import index as knowledge_index
from pegboard.storage.sql.knowledge import segments as knowledge_segments
from pegboard.storage.sql.knowledge.entry_bodies import read_bodies
from pegboard.storage.sql.knowledge.index import SqlKnowledgeIndex
from pegboard.storage.sql.knowledge.segments import list_segments
from pegboard.storage.sql.knowledge.vector_rows import list_bare
from pegboard.testing import FakeClock


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue("postgres") if request.param == "postgres" else request.param


@pytest.fixture(autouse=True)
def _pack_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of three to four pieces."""
    for name, count in {"_MIN_PIECES": 2, "_MIN_SEGMENT": 1, "_MAX_PIECES": 4}.items():
        monkeypatch.setattr(knowledge_segments, name, count)


async def pack(storage: Any) -> list[tuple[int, int, int]]:
    """Pack a base: the first and last entry of each segment, and how many pieces it has."""
    await storage.knowledge_index.pack("b1")
    return await list_packed(storage)


async def list_packed(storage: Any) -> list[tuple[int, int, int]]:
    found = await storage._database.read(lambda it: list_segments(it, "b1"))
    return [(item.first, item.last, item.pieces) for item in found]


async def list_terms(storage: Any) -> set[int]:
    """The hashes of all terms in segments."""
    rows = await storage._database.read(lambda it: it.all(select(PIECE_SEGMENTS.c.body)))
    segments = [decode_segment(row.body) for row in rows]
    return {term for it in segments if it is not None for term in it.terms.tolist()}


async def search_anew(storage: Any, question: str) -> tuple[SqlKnowledgeIndex, Sequence[str]]:
    """An index that has loaded nothing before, and what it finds."""
    storage.knowledge_index = index = SqlKnowledgeIndex(storage._database)
    return index, await find(storage, question)


async def test_a_process_finds_in_segments_what_it_finds_in_rows(storage: Any) -> None:
    for number, text in enumerate(("red cat", "red dog", "blue cat", "red"), 1):
        await put(storage, f"d{number}", text, "red " * number)
    _, before = await search_anew(storage, "red cat")
    scope = a_scope()
    terms = {"red": 1.0, "cat": 1.0}
    expected = await storage.knowledge_index.search_words(terms, scope, limit=9)

    assert await pack(storage) == [(1, 2, 4), (3, 4, 4)]
    await put(storage, "d5", "loose cat")
    await storage.documents.delete("d5")
    index, after = await search_anew(storage, "red cat")

    assert after == before
    assert await storage.knowledge_index.search_words(terms, scope, limit=9) == expected
    assert [it.entries.tolist() for it in index._words.get(("b1", ""))] == [[3, 4], [1, 2]]


async def test_a_base_is_loaded_before_its_first_question(
    storage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(storage, "d1", "red", "blue")
    await put(storage, "d2", "red cat")
    await storage.knowledge_index.put_vectors(MODEL, {"d1.1": [EAST], "d2.1": [EAST]})
    index = SqlKnowledgeIndex(storage._database)

    await index.preload("b1", embedder=MODEL)

    assert [it.entries.tolist() for it in index._words.get(("b1", ""))] == [[1, 2]]
    assert [len(it.entries) for it in index._vectors.get(("b1", MODEL))] == [2]
    monkeypatch.setattr(knowledge_index, "MAX_PRELOADED", -1)
    full = SqlKnowledgeIndex(storage._database)
    await full.preload("b1", embedder=MODEL)
    assert (full._words.size, full._vectors.size) == (0, 0)


async def test_what_came_after_a_segment_is_found_beside_it(storage: Any) -> None:
    await put(storage, "d1", "red", "red red", "blue")
    assert await pack(storage) == [(1, 1, 3)]
    await put(storage, "d2", "red cat")

    _, found = await search_anew(storage, "cat")
    assert found == ["d2.1"]
    assert await pack(storage) == [(1, 1, 3)]  # one piece is loaded in a blink


async def test_small_segments_are_packed_anew_with_what_came_since(storage: Any) -> None:
    await put(storage, "d1", "red", "blue")
    assert await pack(storage) == [(1, 1, 2)]
    await put(storage, "d2", "red", "cat")

    assert await pack(storage) == [(1, 2, 4)]


@pytest.mark.parametrize("way", ["deleted", "replaced"])
async def test_a_segment_goes_with_a_document_that_is(storage: Any, way: str) -> None:
    await put(storage, "d1", "secret", "red")
    await put(storage, "d2", "blue", "red")
    await put(storage, "d3", "green", "red", "red")
    assert await pack(storage) == [(1, 2, 4), (3, 3, 3)]

    if way == "deleted":
        await storage.documents.delete("d1")
    else:
        await storage.knowledge_index.put("d1", 2, [indexed(a_piece("d1", 1, "public"))])

    assert await list_packed(storage) == [(3, 3, 3)]
    assert hash_term("secret") not in await list_terms(storage)
    assert (2, 2, 2) in await pack(storage)
    assert hash_term("secret") not in await list_terms(storage)
    _, found = await search_anew(storage, "secret blue")
    assert found == ["d2.1"]


async def test_a_document_that_is_deleted_while_it_is_packed_is_in_no_segment(
    storage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(storage, "d1", "secret", "red")
    loop, build = asyncio.get_running_loop(), knowledge_segments._build

    def delete_and_build(bodies: dict[int, bytes]) -> bytes:
        asyncio.run_coroutine_threadsafe(storage.documents.delete("d1"), loop).result()
        return build(bodies)

    monkeypatch.setattr(knowledge_segments, "_build", delete_and_build)

    assert await pack(storage) == []


async def test_a_segment_waits_for_a_deletion_that_is_under_way(
    postgres: str, tmp_path: Path, clock: FakeClock
) -> None:
    async with a_storage(postgres, tmp_path, clock) as storage:
        await storage.documents.delete("d0")  # now deletions are counted
        await put(storage, "d1", "secret", "red")
        with psycopg.connect(postgres) as server:
            server.execute("DELETE FROM piece_terms")
            server.execute(
                "INSERT INTO knowledge_changes (id, number) VALUES (1, 1) "
                "ON CONFLICT (id) DO UPDATE SET number = knowledge_changes.number + 1"
            )
            packing = asyncio.create_task(storage.knowledge_index.pack("b1"))
            with psycopg.connect(postgres, autocommit=True) as watcher:
                waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                while not packing.done() and watcher.execute(waits).fetchone() is None:  # noqa: ASYNC110 - the server has no event
                    await asyncio.sleep(0.01)
            assert not packing.done()
            server.commit()
            await packing

        assert await list_packed(storage) == []


async def test_a_deletion_waits_for_a_segment_that_is_being_stored(
    postgres: str, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, are_there = asyncio.get_running_loop(), knowledge_segments._are_there
    async with a_storage(postgres, tmp_path, clock) as storage:
        await storage.documents.delete("d0")
        await put(storage, "d1", "secret", "red")
        deletions: list[Any] = []

        def delete_between(*arguments: Any) -> bool:
            found = are_there(*arguments)
            deletion = asyncio.run_coroutine_threadsafe(storage.documents.delete("d1"), loop)
            with psycopg.connect(postgres, autocommit=True) as watcher:
                waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                while not deletion.done() and watcher.execute(waits).fetchone() is None:
                    pass
            deletions.append(asyncio.wrap_future(deletion, loop=loop))
            return found

        monkeypatch.setattr(knowledge_segments, "_are_there", delete_between)
        await storage.knowledge_index.pack("b1")
        await deletions[0]

        assert await list_packed(storage) == []


async def test_servers_that_pack_at_once_store_a_segment_once(storage: Any, other: Any) -> None:
    await put(storage, "d1", "red", "blue", "cat", "dog")
    async with asyncio.TaskGroup() as group:
        for server in (storage, other):
            group.create_task(server.knowledge_index.pack("b1"))

    assert await list_packed(storage) == [(1, 1, 4)]


async def test_a_segment_of_another_version_is_passed_by(storage: Any) -> None:
    await put(storage, "d1", "red", "blue")
    await pack(storage)
    body = (await storage._database.read(lambda it: it.all(select(PIECE_SEGMENTS.c.body))))[0][0]
    change = update(PIECE_SEGMENTS).values(body=b"\x63" + body[1:])
    await storage._database.run(lambda transaction: transaction.execute(change))

    _, found = await search_anew(storage, "red")
    assert found == ["d1.1"]


async def test_bodies_are_read_as_they_are(storage: Any) -> None:
    pieces = [indexed(a_piece("d1", 1, "red"), EAST)]
    await put(storage, "d1", "red")
    await storage.knowledge_index.put("d1", 2, pieces, embedder=MODEL)
    for table in (PIECE_TERMS, PIECE_VECTORS):
        rows = await storage._database.read(
            lambda it, table=table: it.all(select(table.c.number, table.c.body))
        )
        numbers = [row.number for row in rows]
        found = await storage._database.read(
            lambda it, table=table, numbers=numbers: read_bodies(it, table, [*numbers, 99])
        )
        assert found == [(row.number, row.body) for row in rows]


async def test_only_pieces_without_vectors_are_bare(storage: Any) -> None:
    for number in (1, 2):
        await put(storage, f"d{number}", "red", "blue")
    await storage.knowledge_index.put_vectors(MODEL, {"d1.1": [EAST]})
    await storage.knowledge_index.put_vectors(MODEL, {"d2.1": [EAST], "d2.2": [EAST]})

    assert await storage._database.read(lambda it: list_bare(it, "b1", MODEL)) == {"d1.2"}
