"""Vectors of tools, in every storage."""

from pathlib import Path

import pytest

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.errors import Unavailable
from pegboard.storage import Storage
from pegboard.storage.databases.sqlite import SqliteDatabase
from pegboard.storage.memory.tool_vectors import MemoryToolVectors
from pegboard.storage.sql.tool_vectors import SqlToolVectors
from pegboard.storage.tables import TOOL_VECTORS
from pegboard.testing import FakeClock

MODEL = "openai:small"


async def test_vectors_are_found_by_model_and_digest(storage: Storage, other: Storage) -> None:
    await storage.tool_vectors.put(MODEL, {})
    await storage.tool_vectors.put(MODEL, {b"a": [0.5, -1.0], b"\x00\xff": [2.0, 0.25]})
    await other.tool_vectors.put("openai:large", {b"a": [1.0, 0.0, 0.0]})

    found = await other.tool_vectors.find(MODEL, [b"a", b"b", b"\x00\xff"])
    assert found == {b"a": [0.5, -1.0], b"\x00\xff": [2.0, 0.25]}
    assert await storage.tool_vectors.find("openai:large", [b"a"]) == {b"a": [1.0, 0.0, 0.0]}


async def test_a_vector_that_is_stored_stays_until_its_model_is_forgotten(
    storage: Storage, other: Storage
) -> None:
    await storage.tool_vectors.put(MODEL, {b"a": [1.0]})
    await other.tool_vectors.put(MODEL, {b"a": [2.0], b"b": [3.0]})
    first = await storage.tool_vectors.find(MODEL, [b"a", b"b"])
    gone = [await other.tool_vectors.forget(MODEL), await other.tool_vectors.forget(MODEL)]
    await storage.tool_vectors.put(MODEL, {b"a": [2.0]})

    assert first == {b"a": [1.0], b"b": [3.0]}
    assert gone == [2, 0]
    assert await storage.tool_vectors.find(MODEL, [b"a", b"b"]) == {b"a": [2.0]}


async def test_many_vectors_are_read_and_written_at_once(storage: Storage) -> None:
    vectors = {str(number).encode(): [float(number)] for number in range(1_200)}
    await storage.tool_vectors.put(MODEL, vectors)

    assert await storage.tool_vectors.find(MODEL, list(vectors)) == vectors


async def test_beyond_the_bound_what_was_stored_first_is_deleted(
    tmp_path: Path, clock: FakeClock
) -> None:
    database = SqliteDatabase(tmp_path, clock=clock, sweep=lambda _: None, max_rows=10)
    found: list[set[bytes]] = []
    for store in (MemoryToolVectors(ClosableLock(), most=2), SqlToolVectors(database, most=2)):
        for digest in (b"c", b"a", b"b"):
            await store.put(MODEL, {digest: [1.0]})
        found.append(set(await store.find(MODEL, [b"a", b"b", b"c"])))
    database.close()

    assert found == [{b"a", b"b"}, {b"a", b"b"}]


async def test_a_row_that_is_cut_off_is_not_found(tmp_path: Path, clock: FakeClock) -> None:
    database = SqliteDatabase(tmp_path, clock=clock, sweep=lambda _: None, max_rows=10)
    store = SqlToolVectors(database, most=10)
    await store.put(MODEL, {b"a": [1.0], b"b": [1.0]})
    cut = TOOL_VECTORS.update().where(TOOL_VECTORS.c.digest == b"a".hex()).values(body=b"abc")
    await database.run(lambda transaction: transaction.execute(cut))

    assert await store.find(MODEL, [b"a", b"b"]) == {b"b": [1.0]}
    database.close()


async def test_a_closed_store_says_so(storage: Storage) -> None:
    await storage.close()

    with pytest.raises(Unavailable):
        await storage.tool_vectors.find(MODEL, [b"a"])
    with pytest.raises(Unavailable):
        await storage.tool_vectors.put(MODEL, {b"a": [1.0]})
