"""Uploads: parts that arrive in order, whoever else writes, deletes or goes away meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.features.files.made import ADA, BOB, EVE, Bench, chunks, interrupted, read

from pegboard.core.ports.accounts.file_store import FileQuery, FileQuota, FileRecord, FileUsage
from pegboard.core.principal import Principal
from pegboard.errors import (
    AccessDenied,
    FileMissing,
    InvalidRequest,
    RateLimited,
    StorageQuotaExceeded,
    UploadConflict,
)
from pegboard.features.files import uploads as module
from pegboard.features.files.uploads import NewUpload

DAY = 86_400.0
TEXT = b"The returns desk is open until six.\n" * 40


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def begin(bench: Bench, content: bytes = TEXT, **changes: Any) -> FileRecord:
    wanted: dict[str, Any] = {"name": "returns.md", "size": len(content)} | changes
    return await bench.uploads.begin(NewUpload(**wanted), principal=ADA)


async def append(
    bench: Bench, upload: FileRecord, content: bytes, offset: int, **changes: Any
) -> FileRecord:
    given: dict[str, Any] = {"principal": ADA} | changes
    return await bench.uploads.append(upload.id, chunks(content), offset=offset, **given)


async def send(bench: Bench, content: bytes = TEXT, size: int = 500, **changes: Any) -> FileRecord:
    """An upload with all its parts, not finished yet."""
    upload = await begin(bench, content, **changes)
    for start in range(0, len(content), size):
        upload = await append(bench, upload, content[start : start + size], start)
    return upload


async def finish(bench: Bench, upload: FileRecord, principal: Principal = ADA) -> FileRecord:
    return await bench.uploads.finish(upload.id, principal=principal)


@pytest.mark.parametrize("size", [500, 1000, 7], ids=["parts", "two", "small"])
async def test_a_file_is_uploaded_in_parts(bench: Bench, size: int) -> None:
    bench.limits = structs.replace(bench.limits, part_bytes=1_000)
    upload = await send(bench, size=size, digest=sha256(TEXT).hexdigest())
    file = await finish(bench, upload)

    assert await read(bench.files, file) == TEXT
    assert file.id == upload.id
    assert (file.size, file.digest) == (len(TEXT), sha256(TEXT).hexdigest())
    assert file.media_type == "text/markdown"
    assert len(bench.names()) == 1
    assert bench.changes() == [("stored", "returns.md")]


async def test_an_upload_tells_where_it_goes_on(bench: Bench) -> None:
    upload = await begin(bench)
    await append(bench, upload, TEXT[:300], 0)

    found = await bench.uploads.find(upload.id, principal=ADA)
    assert found.offset == 300
    page = await bench.uploads.list(FileQuery(principal=ADA, state="uploading"))
    assert list(page.files) == [found]


async def test_an_empty_file_needs_no_part(bench: Bench) -> None:
    file = await finish(bench, await begin(bench, b""))

    assert await read(bench.files, file) == b""
    assert file.digest == sha256(b"").hexdigest()


async def test_a_file_of_one_part_is_not_copied(bench: Bench) -> None:
    upload = await begin(bench)
    bench.limits = structs.replace(bench.limits, part_bytes=5_000)
    upload = await append(bench, upload, TEXT, 0)

    assert (await finish(bench, upload)).blob == upload.parts[0].key


@pytest.mark.parametrize("offset", [0, 299, 301, 10**9])
async def test_a_part_that_begins_elsewhere_is_refused(bench: Bench, offset: int) -> None:
    upload = await begin(bench)
    await append(bench, upload, TEXT[:300], 0)

    with pytest.raises(UploadConflict) as caught:
        await append(bench, upload, b"x", offset)
    assert caught.value.offset == 300
    assert len(bench.names()) == 1


async def test_a_part_with_another_digest_is_refused(bench: Bench) -> None:
    upload = await begin(bench)
    part, wrong = TEXT[:300], sha256(b"other").hexdigest()

    with pytest.raises(UploadConflict, match="not what its digest says") as caught:
        await append(bench, upload, part, 0, digest=wrong)
    assert caught.value.offset == 0
    assert bench.names() == []
    assert (await append(bench, upload, part, 0, digest=sha256(part).hexdigest())).offset == 300


async def test_a_content_with_another_digest_begins_again(bench: Bench) -> None:
    upload = await send(bench, TEXT[::-1], digest=sha256(TEXT).hexdigest())
    with pytest.raises(UploadConflict) as caught:
        await finish(bench, upload)

    assert caught.value.offset == 0
    assert bench.names() == []
    assert (await bench.uploads.find(upload.id, principal=ADA)).offset == 0
    for start in range(0, len(TEXT), 500):
        await append(bench, upload, TEXT[start : start + 500], start)
    assert await read(bench.files, await finish(bench, upload)) == TEXT


async def test_what_is_not_complete_is_not_finished(bench: Bench) -> None:
    upload = await begin(bench)
    await append(bench, upload, TEXT[:300], 0)

    with pytest.raises(UploadConflict) as caught:
        await finish(bench, upload)
    assert caught.value.offset == 300
    with pytest.raises(FileMissing):
        await bench.files.find(upload.id, principal=ADA)


@pytest.mark.parametrize(("size", "sent"), [(5, b"sixsix"), (4_000, b"x" * 1_001)])
async def test_a_part_has_no_more_bytes_than_are_left_or_allowed(
    bench: Bench, size: int, sent: bytes
) -> None:
    upload = await begin(bench, size=size)

    with pytest.raises(InvalidRequest, match="more than"):
        await append(bench, upload, sent, 0)
    assert bench.names() == []
    assert (await bench.uploads.find(upload.id, principal=ADA)).offset == 0


async def test_an_upload_has_a_limited_number_of_parts(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_PARTS", 3)

    with pytest.raises(InvalidRequest, match="send larger ones"):
        await send(bench, size=10)


async def test_a_cut_part_leaves_nothing(bench: Bench) -> None:
    async def cut() -> AsyncIterator[bytes]:
        yield TEXT[:100]
        raise ConnectionError

    upload = await begin(bench)
    with pytest.raises(ConnectionError):
        await bench.uploads.append(upload.id, cut(), offset=0, principal=ADA)

    assert bench.names() == []
    assert (await append(bench, upload, TEXT[:300], 0)).offset == 300


async def test_of_two_writers_at_once_one_is_taken(bench: Bench) -> None:
    upload = await begin(bench, size=600)

    async def write(content: bytes) -> int:
        try:
            return (await append(bench, upload, content, 0)).offset
        except UploadConflict as error:
            return -error.offset

    contents = [bytes([65 + number]) * 300 for number in range(5)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(write(content)) for content in contents]

    assert sorted(task.result() for task in tasks) == [-300, -300, -300, -300, 300]
    await append(bench, upload, b"z" * 300, 300)
    assert (await read(bench.files, await finish(bench, upload)))[:300] in contents
    assert len(bench.names()) == 1


@pytest.mark.parametrize("servers", [1, 3])
async def test_those_that_finish_at_once_get_one_file(bench: Bench, servers: int) -> None:
    upload = await send(bench)
    others = [Bench(bench.folder, storage=bench.storage) for _ in range(servers - 1)]
    all_ = [bench, *others]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(finish(all_[it % servers], upload)) for it in range(3)]

    assert len({task.result().blob for task in tasks}) == 1
    assert await finish(bench, upload) == tasks[0].result()
    assert await read(bench.files, tasks[0].result()) == TEXT
    assert len(bench.names()) == 1
    assert not bench.uploads._finishing


async def test_another_server_goes_on_with_an_upload(bench: Bench) -> None:
    upload = await begin(bench)
    await append(bench, upload, TEXT[:700], 0)
    other = Bench(bench.folder, storage=bench.storage)
    await append(other, upload, TEXT[700:], 700)

    assert await read(bench.files, await finish(other, upload)) == TEXT


async def test_one_caller_sends_few_parts_at_once(bench: Bench) -> None:
    upload, release, full = await begin(bench), asyncio.Event(), asyncio.Event()
    begun = list[int]()

    async def waiting() -> AsyncIterator[bytes]:
        begun.append(1)
        if len(begun) == module.MAX_WRITERS:
            full.set()
        await release.wait()
        yield TEXT[:10]

    async def write() -> None:
        with suppress(UploadConflict):
            await bench.uploads.append(upload.id, waiting(), offset=0, principal=ADA)

    async with asyncio.TaskGroup() as group:
        for _ in range(module.MAX_WRITERS):
            group.create_task(write())
        await full.wait()
        with pytest.raises(RateLimited):
            await append(bench, upload, TEXT[:10], 0)
        release.set()

    assert (await append(bench, upload, TEXT[10:20], 10)).offset == 20
    assert not bench.uploads._writers


async def test_what_is_deleted_during_a_part_is_gone(bench: Bench) -> None:
    upload = await begin(bench)
    part = interrupted(TEXT[:300], lambda: bench.uploads.abandon(upload.id, principal=ADA))

    with pytest.raises(FileMissing):
        await bench.uploads.append(upload.id, part, offset=0, principal=ADA)
    assert bench.names() == []
    with pytest.raises(FileMissing):
        await bench.uploads.find(upload.id, principal=ADA)
    assert await bench.files.usage(principal=ADA) == FileUsage()


async def test_what_was_finished_is_not_abandoned_or_written(bench: Bench) -> None:
    upload = await send(bench)
    file = await finish(bench, upload)

    with pytest.raises(FileMissing):
        await bench.uploads.abandon(upload.id, principal=ADA)
    with pytest.raises(FileMissing):
        await append(bench, upload, b"x", len(TEXT))
    assert await read(bench.files, file) == TEXT


async def test_the_upload_of_another_person_is_not_there(bench: Bench) -> None:
    upload = await begin(bench, organisation="acme")

    for principal in (BOB, EVE):
        with pytest.raises(FileMissing):
            await bench.uploads.find(upload.id, principal=principal)
        with pytest.raises(FileMissing):
            await append(bench, upload, b"x", 0, principal=principal)
        with pytest.raises(FileMissing):
            await finish(bench, upload, principal)
        with pytest.raises(FileMissing):
            await bench.uploads.abandon(upload.id, principal=principal)
        page = await bench.uploads.list(FileQuery(principal=principal, state="uploading"))
        assert list(page.files) == []


async def test_a_shared_file_is_no_upload_of_others(bench: Bench) -> None:
    file = await finish(bench, await send(bench, organisation="acme"))

    assert (await bench.files.find(file.id, principal=BOB)).id == file.id
    with pytest.raises(FileMissing):
        await finish(bench, file, BOB)


async def test_a_key_that_only_reads_begins_no_upload(bench: Bench) -> None:
    reader = structs.replace(ADA, kind="key", key="k1", scopes=frozenset({"read"}))

    with pytest.raises(AccessDenied):
        await bench.uploads.begin(NewUpload(name="a", size=1), principal=reader)


async def test_a_name_that_is_a_path_is_refused(bench: Bench) -> None:
    with pytest.raises(InvalidRequest, match="no folders"):
        await begin(bench, name="../returns.md")


async def test_an_organisation_of_others_gets_no_file(bench: Bench) -> None:
    with pytest.raises(AccessDenied, match="not a member"):
        await begin(bench, organisation="zoo")


async def test_a_file_beyond_the_limits_is_refused_before_a_byte_goes(bench: Bench) -> None:
    with pytest.raises(StorageQuotaExceeded) as caught:
        await begin(bench, size=5_001)
    assert (caught.value.limit, caught.value.unit) == (5_000, "bytes")
    await begin(bench, size=5_000)
    await begin(bench, size=4_000)
    with pytest.raises(StorageQuotaExceeded) as caught:
        await begin(bench, size=1_001)
    assert (caught.value.used, caught.value.limit) == (9_000, 10_000)
    await begin(bench, size=0)
    await begin(bench, size=0)
    await begin(bench, size=0)
    with pytest.raises(StorageQuotaExceeded) as caught:
        await begin(bench, size=0)
    assert (caught.value.used, caught.value.limit, caught.value.unit) == (5, 5, "files")


async def test_what_is_abandoned_counts_no_more(bench: Bench) -> None:
    bench.limits = structs.replace(bench.limits, quota=FileQuota(bytes=5_000))
    upload = await begin(bench, size=5_000)
    await bench.uploads.abandon(upload.id, principal=ADA)

    assert (await begin(bench, size=5_000)).offset == 0


async def test_an_upload_without_a_part_for_a_day_is_deleted(bench: Bench) -> None:
    old, file = await begin(bench), await finish(bench, await send(bench))
    bench.clock.advance(DAY / 2)
    goes_on = await begin(bench)
    await append(bench, old, TEXT[:100], 0)
    bench.clock.advance(DAY / 2)
    gone = await begin(bench)
    await append(bench, gone, TEXT[:100], 0)
    await bench.uploads.abandon(gone.id, principal=ADA)
    before = bench.clock.time()
    assert await bench.uploads.delete_idle(before=before - DAY) == 0
    bench.clock.advance(DAY / 2)
    await append(bench, goes_on, TEXT[:100], 0)

    assert await bench.uploads.delete_idle(before=bench.clock.time() - DAY + 1) == 1
    with pytest.raises(FileMissing):
        await bench.uploads.find(old.id, principal=ADA)
    assert (await bench.uploads.find(goes_on.id, principal=ADA)).offset == 100
    assert await read(bench.files, file) == TEXT
    assert len(bench.names()) == 2


async def test_a_part_that_a_crash_has_left_goes_with_its_upload(bench: Bench) -> None:
    upload = await begin(bench)
    await bench.uploads.abandon(upload.id, principal=ADA)
    await bench.blobs.put(f"{upload.id[2:4]}/{upload.id}/late", chunks(b"x"), limit=9)
    hidden = await bench.storage.files.get(upload.id)
    assert hidden is not None
    assert (hidden.name, hidden.state) == ("", "deleting")

    bench.clock.advance(2 * DAY)
    await bench.uploads.delete_idle(before=bench.clock.time() - DAY)
    assert bench.names() == []
    assert await bench.storage.files.get(upload.id) is None


async def test_a_complete_upload_is_read_before_it_is_a_file(bench: Bench) -> None:
    upload = await send(bench, base="kb_1", path="shop/returns.md")

    file, content = await bench.files.open_complete(upload.id, principal=ADA)

    assert (file.base, file.path, file.state) == ("kb_1", "shop/returns.md", "uploading")
    assert b"".join([chunk async for chunk in content]) == TEXT
    with pytest.raises(FileMissing):
        await bench.files.find(upload.id, principal=ADA)
    with pytest.raises(FileMissing):
        await bench.files.open_complete(upload.id, principal=BOB)


async def test_an_upload_with_missing_parts_is_neither_read_nor_held(bench: Bench) -> None:
    upload = await begin(bench)
    await append(bench, upload, TEXT[:500], 0)

    _, content = await bench.files.open_complete(upload.id, principal=ADA)
    with pytest.raises(UploadConflict) as unread:
        await anext(content)
    with pytest.raises(UploadConflict) as unheld:
        await bench.files.hold(upload.id, "document:d_1", principal=ADA)

    assert (unread.value.offset, unheld.value.offset) == (500, 500)


async def test_a_complete_upload_that_is_held_becomes_a_file(bench: Bench) -> None:
    upload = await send(bench)

    file = await bench.files.hold(upload.id, "document:d_1", principal=ADA)

    assert (file.state, file.holder) == ("ready", "document:d_1")
    assert await read(bench.files, file) == TEXT
