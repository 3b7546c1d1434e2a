"""Versions of tools, in every storage."""

import asyncio
from typing import Any

import pytest
from tests.storage.made import NOON

from pegboard.core.ports.catalogue_stores import ToolVersion
from pegboard.errors import InvalidRequest
from pegboard.storage import Storage


def a_version(name: str = "find", version: str = "1.0.0", **changes: Any) -> ToolVersion:
    fields: dict[str, Any] = {
        "name": name,
        "version": version,
        "digest": f"{name}@{version}",
        "definition": {"name": name, "tags": ["a", {"b": None}], "text": "é\x00\ud800"},
        "created_at": NOON,
        "created_by": "acme/ada",
    }
    return ToolVersion(**(fields | changes))


async def names(storage: Storage) -> list[str]:
    return [f"{item.name}@{item.version}" for item in await storage.catalogue.active()]


async def test_what_is_added_is_given_back_whole(storage: Storage) -> None:
    version = a_version(
        origin="bulk", status="deprecated", deprecated_at=NOON, deprecated_until=NOON + 0.125
    )
    await storage.catalogue.add([version])

    assert await storage.catalogue.version("find", "1.0.0") == version
    assert await storage.catalogue.active() == [version]
    assert await storage.catalogue.versions() == [version]
    assert await storage.catalogue.version("find", "2.0.0") is None


async def test_a_name_means_the_newest_version_and_the_older_ones_stay(storage: Storage) -> None:
    await storage.catalogue.add([a_version("b"), a_version("a")])
    await storage.catalogue.add([a_version("a", "1.1.0")])

    assert await names(storage) == ["a@1.1.0", "b@1.0.0"]
    assert [item.version for item in await storage.catalogue.versions("a")] == ["1.0.0", "1.1.0"]
    assert [item.name for item in await storage.catalogue.versions()] == ["b", "a", "a"]


async def test_a_name_can_be_rolled_back(storage: Storage) -> None:
    await storage.catalogue.add([a_version(), a_version(version="2.0.0")])

    assert await storage.catalogue.activate("find", "1.0.0")
    assert await names(storage) == ["find@1.0.0"]
    assert not await storage.catalogue.activate("find", "3.0.0")
    assert not await storage.catalogue.activate("unheard", "1.0.0")
    assert await names(storage) == ["find@1.0.0"]


async def test_a_name_that_means_nothing_any_more_keeps_its_versions(storage: Storage) -> None:
    await storage.catalogue.add([a_version()])

    assert await storage.catalogue.deactivate("find")
    assert not await storage.catalogue.deactivate("find")
    assert await names(storage) == []
    assert await storage.catalogue.version("find", "1.0.0") == a_version()


async def test_a_version_can_be_marked(storage: Storage) -> None:
    await storage.catalogue.add([a_version()])

    assert await storage.catalogue.mark(
        "find", "1.0.0", status="deprecated", deprecated_at=NOON, deprecated_until=NOON + 60
    )
    assert not await storage.catalogue.mark("find", "9.0.0", status="removed")
    assert await storage.catalogue.active() == [
        a_version(status="deprecated", deprecated_at=NOON, deprecated_until=NOON + 60)
    ]


async def test_the_same_version_again_is_left_as_it_is(storage: Storage) -> None:
    await storage.catalogue.add([a_version()])
    await storage.catalogue.add([a_version(created_at=NOON + 1), a_version(created_at=NOON + 2)])

    assert await storage.catalogue.versions() == [a_version()]


@pytest.mark.parametrize(
    "kept", [[a_version(digest="other")], []], ids=["kept before", "in the same list"]
)
async def test_another_definition_under_a_version_is_refused_with_all_that_came_along(
    storage: Storage, kept: list[ToolVersion]
) -> None:
    await storage.catalogue.add(kept)
    before = await storage.catalogue.revision()

    with pytest.raises(InvalidRequest, match=r"'find' has a version 1\.0\.0 already"):
        await storage.catalogue.add([a_version("new"), a_version(), a_version(digest="third")])

    assert await storage.catalogue.versions() == kept
    assert await storage.catalogue.version("new", "1.0.0") is None
    assert await storage.catalogue.revision() == before


async def test_a_definition_that_is_no_json_is_refused(storage: Storage) -> None:
    with pytest.raises(InvalidRequest, match="not JSON"):
        await storage.catalogue.add([a_version(definition={"run": object()})])

    assert await storage.catalogue.versions() == []


async def test_the_revision_grows_with_each_change_and_only_then(storage: Storage) -> None:
    seen = [await storage.catalogue.revision()]
    for change in (
        storage.catalogue.add([a_version(), a_version(version="2.0.0")]),
        storage.catalogue.activate("find", "1.0.0"),
        storage.catalogue.mark("find", "2.0.0", status="inactive"),
        storage.catalogue.deactivate("find"),
    ):
        await change
        seen.append(await storage.catalogue.revision())
    for nothing in (
        storage.catalogue.add([]),
        storage.catalogue.activate("find", "9.0.0"),
        storage.catalogue.mark("find", "9.0.0", status="inactive"),
        storage.catalogue.deactivate("find"),
    ):
        await nothing

    assert seen == sorted(set(seen))
    assert await storage.catalogue.revision() == seen[-1]


async def test_what_is_kept_is_out_of_its_makers_reach(storage: Storage) -> None:
    definition: dict[str, Any] = {"tags": ["a"]}
    await storage.catalogue.add([a_version(definition=definition)])
    definition["tags"].append("b")
    given = await storage.catalogue.version("find", "1.0.0")
    assert given is not None
    given.definition["tags"].append("c")

    again = await storage.catalogue.version("find", "1.0.0")
    assert again is not None
    assert again.definition == {"tags": ["a"]}


async def test_of_two_servers_that_add_a_version_at_once_one_is_refused(
    storage: Storage, other: Storage
) -> None:
    adding = [
        asyncio.ensure_future(server.catalogue.add([a_version(digest=f"d{number}")]))
        for number, server in enumerate([storage, other] * 5)
    ]
    await asyncio.wait(adding)

    refused = [task.exception() for task in adding if task.exception() is not None]
    assert len(refused) == 9
    assert {type(error) for error in refused} == {InvalidRequest}
    assert len(await storage.catalogue.versions()) == 1


@pytest.mark.timeout(60)
async def test_ten_thousand_tools_are_added_at_once(storage: Storage) -> None:
    await storage.catalogue.add([a_version(f"tool{number:05}") for number in range(10_000)])

    assert len(await storage.catalogue.active()) == 10_000
    assert await storage.catalogue.revision() == 1
