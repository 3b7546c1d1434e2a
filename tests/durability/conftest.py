"""A PostgreSQL for the tests of this room."""

from tests.storage.conftest import postgres, postgres_server
from tests.storage.databases.conftest import own_postgres, own_server

__all__ = ["own_postgres", "own_server", "postgres", "postgres_server"]
