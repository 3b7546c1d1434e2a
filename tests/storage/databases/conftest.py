"""A PostgreSQL server that a test may stop, and an empty database."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from tests.peers.postgres import started_postgres


@pytest.fixture(scope="session")
def own_server() -> Any:
    """A server of its own, which may be stopped and started."""
    return started_postgres()


@pytest.fixture
def own_postgres(own_server: Any) -> Iterator[str]:
    """The address of an empty database on it."""
    address: str = own_server.get_uri()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE DATABASE own")
    yield address.replace("/postgres?", "/own?")
    own_server.start()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP DATABASE own WITH (FORCE)")
