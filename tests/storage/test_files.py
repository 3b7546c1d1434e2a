"""Rows of files and uploads, in every storage."""

import asyncio
from typing import Any

import pytest
from msgspec import structs
from tests.storage.made import NOON

from pegboard.core.ports.accounts.file_store import (
    FilePart,
    FileQuery,
    FileQuota,
    FileRecord,
    FileUsage,
)
from pegboard.core.principal import Principal
from pegboard.errors import StorageQuotaExceeded
from pegboard.storage import Storage

NO_QUOTA = FileQuota()
ADA = Principal(id="ada", user="u_ada", organisations=frozenset({"acme"}))
BOB = Principal(id="bob", user="u_bob", organisations=frozenset({"acme"}))
EVE = Principal(id="eve", user="u_eve", organisations=frozenset({"zoo", ""}))


def a_file(id: str = "f1", **changes: Any) -> FileRecord:
    """An upload of Ada's, of ten bytes."""
    fields: dict[str, Any] = {
        "owner": ADA.owner,
        "name": "report.pdf",
        "size": 10,
        "created_at": NOON,
        "updated_at": NOON,
    }
    return FileRecord(id=id, **(fields | changes))


async def add(storage: Storage, *files: FileRecord) -> None:
    for file in files:
        await storage.files.add(file, quota=NO_QUOTA)


async def names(storage: Storage, principal: Principal, **query: Any) -> list[str]:
    page = await storage.files.list(FileQuery(principal=principal, **query))
    return [file.id for file in page.files]


async def test_a_file_is_stored_changed_and_removed(storage: Storage) -> None:
    part = FilePart(key="f1/p", size=10, digest="d1")
    changed = a_file(parts=(part,), state="ready", blob="f1/p", digest="d1", revision=2)

    assert await storage.files.get("f1") is None
    await add(storage, a_file())
    assert await storage.files.get("f1") == a_file()
    assert await storage.files.replace(changed)
    assert await storage.files.get("f1") == changed
    assert changed.offset == 10
    assert await storage.files.remove("f1")
    assert not await storage.files.remove("f1")
    assert await storage.files.get("f1") is None


async def test_only_the_first_of_two_changes_is_stored(storage: Storage, other: Storage) -> None:
    await add(storage, a_file())
    first, second = a_file(name="one", revision=2), a_file(name="two", revision=2)

    assert await storage.files.replace(first)
    assert not await other.files.replace(second)
    assert not await storage.files.replace(a_file("f2", revision=2))
    assert await other.files.get("f1") == first


async def test_the_newest_files_come_first_page_by_page(storage: Storage) -> None:
    await add(
        storage,
        a_file("f1", state="ready", created_at=NOON + 1),
        a_file("f2", state="ready"),
        a_file("f3", state="ready"),
        a_file("u1"),
        a_file("d1", state="deleting"),
    )
    first = await storage.files.list(FileQuery(principal=ADA, limit=2))
    rest = await storage.files.list(FileQuery(principal=ADA, cursor=first.next_cursor))

    assert [file.id for file in (*first.files, *rest.files)] == ["f1", "f3", "f2"]
    assert rest.next_cursor == ""
    assert await names(storage, ADA, state="uploading") == ["u1"]


async def test_files_are_filtered_by_purpose_and_digest(storage: Storage) -> None:
    ready: dict[str, Any] = {"state": "ready"}
    await add(
        storage,
        a_file("f1", purpose="chat", digest="d1", **ready),
        a_file("f2", purpose="chat", digest="d2", **ready),
        a_file("f3", digest="d1", **ready),
    )

    assert await names(storage, ADA, purpose="chat") == ["f2", "f1"]
    assert await names(storage, ADA, digest="d1") == ["f3", "f1"]
    assert await names(storage, ADA, purpose="chat", digest="d1") == ["f1"]


async def test_files_are_listed_for_those_who_may_see_them(storage: Storage) -> None:
    files = [
        a_file("private", state="ready"),
        a_file("shared", state="ready", organisation="acme"),
        a_file("upload", organisation="acme"),
    ]
    await add(storage, *files)

    for state in ("ready", "uploading", "deleting"):
        for who in (ADA, BOB, EVE):
            seen = [it.id for it in files if it.state == state and it.is_visible_to(who)]
            assert sorted(await names(storage, who, state=state)) == seen
    assert await names(storage, BOB) == ["shared"]
    assert await names(storage, EVE) == []


async def test_usage_counts_files_and_uploads_of_an_owner(storage: Storage) -> None:
    await add(
        storage,
        a_file("f1", state="ready", size=3),
        a_file("f2", size=4),
        a_file("f3", state="deleting", size=100),
        a_file("f4", size=50, owner=BOB.owner),
    )

    assert await storage.files.usage(ADA.owner) == FileUsage(bytes=7, files=2)
    assert await storage.files.usage("/nobody") == FileUsage()


async def test_no_more_is_added_than_the_quota_allows(storage: Storage) -> None:
    quota = FileQuota(bytes=25, files=3)
    await storage.files.add(a_file("f1"), quota=quota)
    await storage.files.add(a_file("f2"), quota=quota)

    with pytest.raises(StorageQuotaExceeded) as caught:
        await storage.files.add(a_file("f3"), quota=quota)
    assert (caught.value.used, caught.value.limit, caught.value.unit) == (20, 25, "bytes")
    assert await storage.files.get("f3") is None
    await storage.files.add(a_file("f3", size=5), quota=quota)
    with pytest.raises(StorageQuotaExceeded) as caught:
        await storage.files.add(a_file("f4", size=0), quota=quota)
    assert (caught.value.used, caught.value.limit, caught.value.unit) == (3, 3, "files")


async def test_a_file_that_grows_is_judged_beside_the_others(storage: Storage) -> None:
    quota = FileQuota(bytes=25, files=2)
    await storage.files.add(a_file("f1", size=0), quota=quota)
    await storage.files.add(a_file("f2"), quota=quota)

    with pytest.raises(StorageQuotaExceeded):
        await storage.files.replace(a_file("f1", size=16, revision=2), quota=quota)
    assert await storage.files.replace(a_file("f1", size=15, revision=2), quota=quota)


async def test_uploads_that_begin_at_once_share_the_quota(storage: Storage, other: Storage) -> None:
    async def begin(number: int) -> bool:
        store = (storage, other)[number % 2].files
        try:
            await store.add(a_file(f"f{number}"), quota=FileQuota(bytes=30))
        except StorageQuotaExceeded:
            return False
        return True

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(begin(number)) for number in range(8)]

    assert sum(task.result() for task in tasks) == 3


async def test_idle_uploads_are_listed_the_oldest_first(storage: Storage) -> None:
    await add(
        storage,
        a_file("new", updated_at=NOON + 10),
        a_file("old", updated_at=NOON + 2),
        a_file("older", updated_at=NOON + 1, state="deleting"),
        a_file("ready", state="ready"),
    )

    found = await storage.files.list_idle(before=NOON + 10, limit=10)
    assert [file.id for file in found] == ["older", "old"]
    assert len(await storage.files.list_idle(before=NOON + 10, limit=1)) == 1


async def test_names_of_any_text_are_stored(storage: Storage) -> None:
    name = "Übersicht \u202e\ud83d\ude00 \ud800.pdf"
    await add(storage, a_file(name=name, state="ready"))

    (found,) = (await storage.files.list(FileQuery(principal=ADA))).files
    assert structs.replace(found, name="") == a_file(name="", state="ready")
