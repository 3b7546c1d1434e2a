"""The stores of this room's tests: in memory, in a data directory, and a PostgreSQL."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.storage.conftest import postgres, postgres_server
from tests.storage.databases.conftest import own_postgres, own_server

from pegboard.core.ports.run_store import RunStore
from pegboard.storage import MemoryStorage, open_storage

__all__ = ["own_postgres", "own_server", "postgres", "postgres_server"]


@pytest.fixture(params=["memory", "sqlite"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def store(kind: str, tmp_path: Path) -> AsyncIterator[RunStore]:
    storage = MemoryStorage() if kind == "memory" else open_storage(tmp_path)
    async with storage:
        yield storage.runs
