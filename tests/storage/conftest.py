"""What the tests of this room share: each kind of storage, one after the other."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.storage.made import a_storage

from pegboard.storage import Storage
from pegboard.testing import FakeClock


@pytest.fixture(params=["memory", "sqlite"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def storage(kind: str, tmp_path: Path, clock: FakeClock) -> AsyncIterator[Storage]:
    async with a_storage(kind, tmp_path, clock) as opened:
        yield opened
