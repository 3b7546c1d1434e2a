"""What every blob store promises."""

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256

import pytest

from pegboard.blobs.keys import check_key
from pegboard.core.ports.accounts.blob_store import BlobStore, StoredBlob
from pegboard.errors import InvalidRequest

pytestmark = pytest.mark.timeout(60)  # the first one pays for the start of the service
MANY = 1_000_000_000
LARGE = bytes(range(256)) * (24 * 1024)  # six megabytes: more than one part of an object


async def in_chunks(content: bytes, size: int = 64 * 1024) -> AsyncIterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


async def put(blobs: BlobStore, key: str, content: bytes) -> StoredBlob:
    return await blobs.put(key, in_chunks(content), limit=MANY)


async def read(blobs: BlobStore, key: str, *, start: int = 0, length: int | None = None) -> bytes:
    return b"".join([chunk async for chunk in blobs.read(key, start=start, length=length)])


@pytest.mark.parametrize("content", [b"", b"hello", LARGE], ids=["empty", "small", "large"])
async def test_what_is_stored_is_read(blobs: BlobStore, content: bytes) -> None:
    stored = await put(blobs, "ab/f1/content", content)

    digest = sha256(content).hexdigest()
    assert stored == StoredBlob(key="ab/f1/content", size=len(content), digest=digest)
    assert await blobs.find("ab/f1/content") == len(content)
    assert await read(blobs, "ab/f1/content") == content


@pytest.mark.parametrize(
    ("start", "length"),
    [(0, 3), (5, None), (5_999_999, 100), (6_291_455, 1), (6_291_456, 5), (9_000_000, None)],
)
async def test_a_part_is_read(blobs: BlobStore, start: int, length: int | None) -> None:
    await put(blobs, "f1", LARGE)

    end = None if length is None else start + length
    assert await read(blobs, "f1", start=start, length=length) == LARGE[start:end]


async def test_a_content_takes_the_place_of_the_one_before(blobs: BlobStore) -> None:
    await put(blobs, "f1", b"a longer text")
    await put(blobs, "f1", b"new")

    assert await read(blobs, "f1") == b"new"


async def test_what_is_cut_leaves_the_content_before(blobs: BlobStore) -> None:
    async def cut() -> AsyncIterator[bytes]:
        yield LARGE
        raise ConnectionError("the client is gone")

    await put(blobs, "f1", b"old")
    for key in ("f1", "f2"):
        with pytest.raises(ConnectionError):
            await blobs.put(key, cut(), limit=MANY)

    assert await read(blobs, "f1") == b"old"
    assert await blobs.find("f2") is None


async def test_a_content_beyond_the_limit_is_refused(blobs: BlobStore) -> None:
    with pytest.raises(InvalidRequest, match="more than 99 bytes"):
        await blobs.put("f1", in_chunks(b"x" * 100), limit=99)

    assert await blobs.find("f1") is None
    assert (await blobs.put("f1", in_chunks(b"x" * 99), limit=99)).size == 99


async def test_what_is_not_there_is_not_found(blobs: BlobStore) -> None:
    assert await blobs.find("ab/f1") is None
    assert not await blobs.delete("ab/f1")
    await blobs.delete_below("ab/f1")
    with pytest.raises(FileNotFoundError):
        await read(blobs, "ab/f1")


async def test_what_is_deleted_is_gone(blobs: BlobStore) -> None:
    await put(blobs, "ab/f1/content", b"one")
    await put(blobs, "ab/f2/content", b"two")

    assert await blobs.delete("ab/f1/content")
    assert not await blobs.delete("ab/f1/content")
    assert await blobs.find("ab/f1/content") is None
    assert await read(blobs, "ab/f2/content") == b"two"


async def test_all_below_a_key_is_deleted_but_one(blobs: BlobStore) -> None:
    for key in ("ab/f1/a", "ab/f1/b", "ab/f1/c", "ab/f10/a"):
        await put(blobs, key, key.encode())

    await blobs.delete_below("ab/f1", keep="ab/f1/b")
    assert [await blobs.find(f"ab/f1/{name}") for name in "abc"] == [None, 7, None]
    await blobs.delete_below("ab/f1")
    assert await blobs.find("ab/f1/b") is None
    assert await read(blobs, "ab/f10/a") == b"ab/f10/a"


async def test_writers_of_one_key_do_not_mix_their_contents(blobs: BlobStore) -> None:
    contents = [bytes([number]) * 200_000 for number in range(4)]
    async with asyncio.TaskGroup() as group:
        for content in contents:
            group.create_task(put(blobs, "f1", content))

    assert await read(blobs, "f1") in contents


@pytest.mark.parametrize(
    "key",
    ["", "/", "../f", "a/../f", "/etc/passwd", "a//b", "a/", "a b", "a\0b", "a.b", "\u00e4", "a\n"],
)
async def test_a_path_is_no_key(blobs: BlobStore, key: str) -> None:
    with pytest.raises(ValueError, match="not the key"):
        await put(blobs, key, b"x")
    with pytest.raises(ValueError, match="not the key"):
        await blobs.find(key)
    with pytest.raises(ValueError, match="not the key"):
        await blobs.delete_below(key)


def test_a_key_is_returned_as_it_is() -> None:
    assert check_key("ab/f_1-2/C") == "ab/f_1-2/C"
