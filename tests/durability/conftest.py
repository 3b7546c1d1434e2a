"""A PostgreSQL for the tests of this room."""

import pytest
from tests.storage.conftest import postgres, postgres_server
from tests.storage.databases.conftest import own_postgres, own_server

__all__ = ["own_postgres", "own_server", "postgres", "postgres_server"]

_SLOW_START = 60


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first test that needs the server pays for its start."""
    for item in items:
        if "postgres_server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(_SLOW_START))
