"""Bases are packed in the background, those that are large enough."""

import asyncio
import logging
from typing import Any

import pytest
from tests.storage.test_documents import a_document
from tests.storage.test_knowledge_index import put

from pegboard.errors import StoreUnavailable
from pegboard.knowledge import index_upkeep
from pegboard.knowledge.index_upkeep import IndexUpkeep
from pegboard.storage import MemoryStorage


class RecordingIndex:
    """Notes which bases are packed; the first time it fails, if it is to."""

    def __init__(self, *, fails: bool = False) -> None:
        self.packed: list[str] = []
        self.loaded: list[tuple[str, str]] = []
        self.has_packed = asyncio.Event()
        self._fails = fails

    async def pack(self, base: str) -> None:
        if self._fails:
            self._fails = False
            raise StoreUnavailable("The storage is unavailable.")
        self.packed.append(base)
        self.has_packed.set()

    async def preload(self, base: str, *, embedder: str) -> None:
        self.loaded.append((base, embedder))


async def find_embedder(base: str) -> str:
    return f"test:{base}"


@pytest.fixture
async def storage(monkeypatch: pytest.MonkeyPatch) -> MemoryStorage:
    monkeypatch.setattr(index_upkeep, "MIN_PIECES", 2)
    storage = MemoryStorage()
    await put(storage, "d1", "red", "blue")
    await put(storage, "d2", "red", base="small")
    await storage.documents.add(a_document("d3", base="empty"))
    return storage


async def test_large_bases_are_packed_once_they_are_named(storage: MemoryStorage) -> None:
    index: Any = RecordingIndex()
    upkeep = IndexUpkeep(storage.documents, index, find_embedder=find_embedder, pause=0)
    for base in ("small", "empty", "gone", "b1"):
        upkeep.wake(base)

    await index.has_packed.wait()
    await upkeep.close()

    assert index.packed == ["b1"]


async def test_large_bases_are_loaded_at_a_start_and_not_at_a_change(
    storage: MemoryStorage,
) -> None:
    index: Any = RecordingIndex()
    await put(storage, "d4", "red", "blue", base="b2")
    upkeep = IndexUpkeep(storage.documents, index, find_embedder=find_embedder, pause=0)
    upkeep.wake("b2")
    upkeep.wake("small", preload=True)
    upkeep.wake("b1", preload=True)
    upkeep.wake("b1")  # a change right after the start

    while len(index.packed) < 2:  # noqa: ASYNC110 - it is told of the first alone
        await asyncio.sleep(0.001)
    await upkeep.close()

    assert sorted(index.packed) == ["b1", "b2"]
    assert index.loaded == [("b1", "test:b1")]


async def test_a_base_that_cannot_be_packed_does_not_end_it(
    storage: MemoryStorage, caplog: pytest.LogCaptureFixture
) -> None:
    index: Any = RecordingIndex(fails=True)
    upkeep = IndexUpkeep(storage.documents, index, find_embedder=find_embedder, pause=0)
    with caplog.at_level(logging.WARNING):
        upkeep.wake("b1")
        while not caplog.records:  # noqa: ASYNC110 - the log has no event
            await asyncio.sleep(0)
    upkeep.wake("b1")

    await index.has_packed.wait()
    await upkeep.close()

    assert index.packed == ["b1"]


async def test_nothing_is_packed_after_the_end(storage: MemoryStorage) -> None:
    index: Any = RecordingIndex()
    upkeep = IndexUpkeep(storage.documents, index, find_embedder=find_embedder, pause=0)
    await upkeep.close()

    upkeep.wake("b1")
    await asyncio.sleep(0)

    assert index.packed == []
