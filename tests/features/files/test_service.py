"""Files: who sees, shares and deletes them, and what is left then."""

from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec import structs
from tests.features.files.made import ADA, BOB, EVE, Bench, chunks, interrupted, read

from pegboard.core.ports.accounts.file_store import FileQuery, FileQuota, FileRecord, FileUsage
from pegboard.core.ports.audit_store import skip_proof
from pegboard.core.principal import Principal
from pegboard.errors import (
    AccessDenied,
    FileMissing,
    InvalidRequest,
    StorageQuotaExceeded,
    Unavailable,
)
from pegboard.features.files import Files, NewUpload
from pegboard.features.files.parts import FileParts


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def store(
    bench: Bench, content: bytes = b"hello", *, organisation: str = "", owner: Principal = ADA
) -> FileRecord:
    return await bench.files.store(
        "a.txt", chunks(content), organisation=organisation, principal=owner
    )


async def list_names(bench: Bench, principal: Principal) -> list[str]:
    page = await bench.files.list(FileQuery(principal=principal))
    return [file.id for file in page.files]


async def test_a_content_is_stored_and_read(bench: Bench) -> None:
    file = await store(bench, b"%PDF-1.7 and so on")

    assert await bench.files.find(file.id, principal=ADA) == file
    assert (file.size, file.media_type) == (18, "application/pdf")
    assert file.digest == sha256(b"%PDF-1.7 and so on").hexdigest()
    assert await read(bench.files, file) == b"%PDF-1.7 and so on"
    assert await read(bench.files, file, start=5, length=3) == b"1.7"
    assert bench.changes() == [("stored", "a.txt")]


async def test_files_of_the_same_content_do_not_share_it(bench: Bench) -> None:
    first, second = await store(bench), await store(bench)
    await bench.files.delete(first.id, principal=ADA)

    assert await read(bench.files, second) == b"hello"


async def test_what_is_deleted_is_nowhere(bench: Bench) -> None:
    file = await store(bench)
    await bench.files.delete(file.id, principal=ADA)

    assert bench.names() == []
    assert await bench.storage.files.get(file.id) is None
    assert await bench.files.usage(principal=ADA) == FileUsage()
    with pytest.raises(FileMissing):
        await bench.files.find(file.id, principal=ADA)
    with pytest.raises(FileMissing):
        await bench.files.delete(file.id, principal=ADA)
    with pytest.raises(FileMissing):
        await read(bench.files, file)
    assert bench.changes()[-1] == ("deleted", "a.txt")


async def test_a_private_file_is_its_owners_alone(bench: Bench) -> None:
    file = await store(bench)

    for principal in (BOB, EVE, structs.replace(BOB, scopes=frozenset({"operator"}))):
        with pytest.raises(FileMissing):
            await bench.files.find(file.id, principal=principal)
        with pytest.raises(FileMissing):
            await bench.files.delete(file.id, principal=principal)
        assert await list_names(bench, principal) == []


async def test_a_shared_file_is_read_and_not_changed_by_others(bench: Bench) -> None:
    file = await store(bench)
    shared = await bench.files.share(file.id, "acme", principal=ADA)

    assert await bench.files.find(file.id, principal=BOB) == shared
    assert await list_names(bench, BOB) == [file.id]
    assert await list_names(bench, EVE) == []
    with pytest.raises(AccessDenied):
        await bench.files.delete(file.id, principal=BOB)
    with pytest.raises(AccessDenied):
        await bench.files.share(file.id, "", principal=BOB)
    with pytest.raises(AccessDenied):
        await bench.files.share(file.id, "zoo", principal=ADA)
    await bench.files.share(file.id, "", principal=ADA)
    assert await list_names(bench, BOB) == []


async def test_what_others_share_does_not_count(bench: Bench) -> None:
    await store(bench, organisation="acme")

    assert await bench.files.usage(principal=BOB) == FileUsage()
    assert await bench.files.usage(principal=ADA) == FileUsage(bytes=5, files=1)


async def test_a_file_of_something_else_is_deleted_with_that(bench: Bench) -> None:
    file = await store(bench)
    held = await bench.files.hold(file.id, "document:d1", principal=ADA)

    assert await bench.files.hold(file.id, "document:d1", principal=ADA) == held
    with pytest.raises(InvalidRequest, match="belongs to something else"):
        await bench.files.hold(file.id, "document:d2", principal=ADA)
    with pytest.raises(InvalidRequest, match="belongs to document:d1"):
        await bench.files.delete(file.id, principal=ADA)
    assert await bench.files.discard(file.id)
    assert not await bench.files.discard(file.id)
    assert bench.names() == []


@pytest.mark.parametrize("quota", [FileQuota(bytes=104), FileQuota()], ids=["quota", "largest"])
async def test_a_content_that_grows_too_large_is_not_stored(bench: Bench, quota: FileQuota) -> None:
    await store(bench)
    bench.limits = structs.replace(bench.limits, quota=quota, file_bytes=100)

    with pytest.raises(StorageQuotaExceeded):
        await store(bench, b"x" * 101)
    assert await bench.files.usage(principal=ADA) == FileUsage(bytes=5, files=1)
    assert len(bench.names()) == 1
    assert (await store(bench, b"x" * 99)).size == 99


async def test_what_fails_on_its_way_is_not_stored(bench: Bench) -> None:
    async def fail() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await bench.files.store("a.txt", fail(), principal=ADA)
    assert bench.names() == []
    assert await bench.files.usage(principal=ADA) == FileUsage()


async def test_contents_that_arrive_at_once_share_the_quota(bench: Bench) -> None:
    bench.limits = structs.replace(bench.limits, quota=FileQuota(bytes=150))
    content = interrupted(b"x" * 100, lambda: store(bench, b"y" * 100))

    with pytest.raises(StorageQuotaExceeded):
        await bench.files.store("a.txt", content, principal=ADA)
    assert await bench.files.usage(principal=ADA) == FileUsage(bytes=100, files=1)
    assert len(bench.names()) == 1


async def test_servers_without_a_common_place_store_no_files(bench: Bench) -> None:
    parts = FileParts(
        bench.storage.files,
        None,
        limits=lambda: bench.limits,
        environment=bench.parts._environment,
        prove=skip_proof,
    )
    for refused in (
        Files(parts).store("a", chunks(b"x"), principal=ADA),
        Files(parts).uploads.begin(NewUpload(name="a", size=1), principal=ADA),
    ):
        with pytest.raises(Unavailable, match="PEGBOARD_FILES"):
            await refused
    assert await bench.files.usage(principal=ADA) == FileUsage()
