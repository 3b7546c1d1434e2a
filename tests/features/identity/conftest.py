"""A server with accounts, and a second one that shares its store."""

import pytest
from tests.features.identity.made import Server

from pegboard.storage import MemoryStorage
from pegboard.testing import FakeClock


@pytest.fixture
def storage(clock: FakeClock) -> MemoryStorage:
    return MemoryStorage(clock=clock)


@pytest.fixture
def server(storage: MemoryStorage, clock: FakeClock) -> Server:
    return Server(storage.identity, clock)


@pytest.fixture
def other(storage: MemoryStorage, clock: FakeClock) -> Server:
    return Server(storage.identity, clock)
