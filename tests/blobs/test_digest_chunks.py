"""Counting and digesting a content while it passes."""

from hashlib import sha256

from tests.blobs.test_contract import in_chunks

from pegboard.blobs.digest_chunks import DigestChunks


async def test_chunks_are_handed_on_in_blocks() -> None:
    passing = DigestChunks(in_chunks(b"x" * 100, 7), limit=100, block=30)
    blocks = [block async for block in passing]

    assert [len(block) for block in blocks] == [35, 35, 30]
    assert passing.to_blob("f1").digest == sha256(b"x" * 100).hexdigest()
    assert not passing.has_failed
