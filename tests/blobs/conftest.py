"""Each kind of blob store, one after the other."""

from collections.abc import AsyncGenerator
from itertools import count
from pathlib import Path

import pytest
from tests.peers.moto import REGION, make_bucket, started_moto

from pegboard.blobs.local import LocalBlobs
from pegboard.blobs.s3 import S3Access, S3Blobs
from pegboard.core.ports.accounts.blob_store import BlobStore

_NUMBERS = count(1)


@pytest.fixture(scope="session")
def moto() -> str:
    """The address of an S3-compatible service."""
    return started_moto()


@pytest.fixture
def bucket(moto: str) -> S3Access:
    """An empty bucket, in which keys have a prefix."""
    name = f"bucket-{next(_NUMBERS)}"
    make_bucket(moto, name)
    return S3Access(
        bucket=name, prefix="board/files", endpoint=moto, region=REGION, key_id="k", secret="s"
    )


@pytest.fixture(params=["folder", "temporary", "s3"])
async def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[BlobStore]:
    """An empty blob store."""
    if request.param == "s3":
        store: BlobStore = S3Blobs(request.getfixturevalue("bucket"))
    else:
        store = LocalBlobs(tmp_path / "blobs" if request.param == "folder" else None)
    yield store
    await store.close()
