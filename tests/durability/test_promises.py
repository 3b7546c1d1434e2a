"""What every durability promises, kept on every storage."""

from pathlib import Path
from typing import Any

import pytest

from pegboard.durability import StoredDurability
from pegboard.storage import MemoryStorage, Storage, open_storage
from pegboard.testing import DurabilityContract


class _Owning(StoredDurability):
    """Closes its storage too, as a process does that ends; one in memory outlives it."""

    def __init__(self, storage: Storage, **options: Any) -> None:
        super().__init__(storage.runs, every=0.02, **options)
        self._storage = storage

    async def close(self) -> None:
        await super().close()
        if not isinstance(self._storage, MemoryStorage):
            await self._storage.close()


class TestMemory(DurabilityContract):
    """The board's storage, where nothing is kept."""

    def new_store(self) -> MemoryStorage:
        return MemoryStorage()

    async def open(self, store: MemoryStorage) -> StoredDurability:
        return _Owning(store, owner="us")


class TestSqlite(DurabilityContract):
    """A data directory of one process after the other."""

    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self._directory = tmp_path

    def new_store(self) -> Path:
        return self._directory

    async def open(self, store: Path) -> StoredDurability:
        return _Owning(open_storage(store), owner="us")


class TestPostgres(DurabilityContract):
    """A database that servers share: each has an owner of its own."""

    @pytest.fixture(autouse=True)
    def _place(self, postgres: str) -> None:
        self._address = postgres

    def new_store(self) -> str:
        return self._address

    async def open(self, store: str) -> StoredDurability:
        return _Owning(open_storage(store))
