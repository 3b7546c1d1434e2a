"""A server with accounts, and a second one that shares its store."""

from typing import cast

import pytest
from tests.features.identity.made import Server, WatchedStore

from pegboard.core.ports.accounts.identity_store import IdentityStore
from pegboard.storage import MemoryStorage
from pegboard.testing import FakeClock


@pytest.fixture
def storage(clock: FakeClock) -> MemoryStorage:
    return MemoryStorage(clock=clock)


@pytest.fixture
def server(storage: MemoryStorage, clock: FakeClock) -> Server:
    return Server(storage.identity, clock)


@pytest.fixture
def watched(storage: MemoryStorage, server: Server) -> WatchedStore:
    """The store of `server`, which notes what it is asked for."""
    store = WatchedStore(storage.identity)
    server.identity.parts.store = cast("IdentityStore", store)
    return store


@pytest.fixture
def other(storage: MemoryStorage, clock: FakeClock) -> Server:
    return Server(storage.identity, clock)
