"""What the tests of this room share: each kind of storage, one after the other."""

from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from tests.peers.postgres import started_postgres
from tests.storage.made import a_storage, is_postgres

from pegboard.storage import Storage
from pegboard.storage.tables import METADATA
from pegboard.testing import FakeClock


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    """A kind of storage; for `postgres` its address."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres")
    return request.param


@pytest.fixture
async def storage(kind: str, tmp_path: Path, clock: FakeClock) -> AsyncIterator[Storage]:
    async with a_storage(kind, tmp_path, clock) as opened:
        yield opened


@pytest.fixture(scope="session")
def postgres_server() -> str:
    """The address of an empty PostgreSQL that listens on a socket file only."""
    return started_postgres().get_uri()


@pytest.fixture
def postgres(postgres_server: str) -> str:
    """The address of a database of ours without rows."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        made = connection.execute("SELECT to_regclass('pegboard_schema')").fetchone()
        if made != (None,):
            names = ", ".join(METADATA.tables)
            connection.execute(f"TRUNCATE {names} RESTART IDENTITY".encode())
            connection.execute(
                "INSERT INTO audit_head (id, sequence, hash) VALUES (1, 0, repeat('0', 64))"
            )
    assert is_postgres(postgres_server)
    return postgres_server


@pytest.fixture
async def other(
    kind: str, storage: Storage, tmp_path: Path, clock: FakeClock
) -> AsyncIterator[Storage]:
    """The same storage as another server sees it; itself, where servers cannot share."""
    if not is_postgres(kind):
        yield storage
        return
    async with a_storage(kind, tmp_path, clock) as opened:
        yield opened
