"""`CatalogueService` with its registered tools, drafts and views, over a real store."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest
from tests.features.catalogue.made import build, service

from pegboard import ToolRegistry
from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import ToolSpec
from pegboard.errors import (
    AccessDenied,
    DependencyCycle,
    DuplicateTool,
    InvalidRequest,
    StoreUnavailable,
    ToolNotFound,
    VersionNotFound,
)
from pegboard.features.catalogue import CatalogueService
from pegboard.features.catalogue.registered_tools import RegisteredTools
from pegboard.features.catalogue.registration_drafts import Draft
from pegboard.features.catalogue.schemas import DeprecateBody
from pegboard.features.catalogue.views import only_row
from pegboard.features.permissions import CATALOGUE_SCOPE
from pegboard.storage import MemoryStorage
from pegboard.storage.memory.catalogue import MemoryCatalogue


async def test_another_server_sees_what_was_registered(storage: MemoryStorage) -> None:
    mine, other = ToolRegistry(), ToolRegistry()
    here, there = service(storage, mine), service(storage, other)
    await here.register([{"name": "a"}, {"name": "b"}], principal=LOCAL)
    await there.load()
    await here.remove("b", principal=LOCAL)
    await there.load()

    assert other.names() == ("a",)
    assert there.history("a") == here.history("a")
    assert there.origin("a_v1") == "api"
    assert there.origin("nobody") == ""


async def test_what_runs_changes_though_the_spec_does_not(storage: MemoryStorage) -> None:
    registry = ToolRegistry()
    catalogue = service(storage, registry)
    await catalogue.register([{"name": "a", "url": "one"}], principal=LOCAL)
    [made] = await catalogue.register([{"name": "a", "url": "two"}], principal=LOCAL)

    assert (made.version, made.change, made.is_current) == ("1.0.1", "", True)
    assert "two" in (await registry.call("a", {})).text
    assert "one" in (await registry.call("a@1.0.0", {})).text


async def test_who_rolled_back_stays_there_when_the_newer_one_is_registered_again(
    storage: MemoryStorage,
) -> None:
    registry = ToolRegistry()
    catalogue = service(storage, registry)
    first, second = {"name": "a"}, {"name": "a", "description": "Other."}
    await catalogue.register([first, second], principal=LOCAL)
    await catalogue.roll_back("a", "1.0.0", principal=LOCAL)
    [made] = await catalogue.register([second], principal=LOCAL)

    assert (made.version, made.is_new, made.is_current) == ("1.0.1", False, False)
    assert registry.get("a").spec.version == "1.0.0"
    [active] = await storage.catalogue.active()
    assert active.version == "1.0.0"


async def test_one_definition_twice_in_a_request_is_one_version(storage: MemoryStorage) -> None:
    made = await service(storage, ToolRegistry()).register(
        [{"name": "a"}, {"name": "a"}], principal=LOCAL
    )

    assert [item.is_new for item in made] == [True, False]
    assert len(await storage.catalogue.versions()) == 1


async def test_a_version_that_cannot_be_made_any_more_leaves_the_others(
    storage: MemoryStorage, caplog: pytest.LogCaptureFixture
) -> None:
    here = service(storage, ToolRegistry())
    await here.register([{"name": "a"}, {"name": "taken"}], principal=LOCAL)
    registry = ToolRegistry([await build({"name": "taken"})])

    await service(storage, registry).load()

    assert registry.names() == ("taken", "a")
    assert "catalogue: taken is not restored" in caplog.text


@pytest.mark.parametrize(
    ("definition", "error", "says"),
    [
        ({}, InvalidRequest, "[0] name: missing"),
        ({"name": "shop__x"}, DuplicateTool, "'shop__' begins the names"),
        ({"name": "own"}, DuplicateTool, "the board"),
    ],
)
async def test_a_wrong_definition_keeps_nothing(
    storage: MemoryStorage, definition: dict[str, str], error: type[Exception], says: str
) -> None:
    registry = ToolRegistry([await build({"name": "own"})])
    with pytest.raises(error, match=says.replace("[", r"\[").replace("]", r"\]")):
        await service(storage, registry).register([definition], principal=LOCAL)

    assert await storage.catalogue.versions() == []


async def test_only_who_may_changes_anything(storage: MemoryStorage) -> None:
    nobody = Principal(id="n")
    catalogue = service(storage, ToolRegistry())
    with pytest.raises(AccessDenied, match=CATALOGUE_SCOPE):
        await catalogue.register([{"name": "a"}], principal=nobody)


async def test_what_is_not_there_is_told(storage: MemoryStorage) -> None:
    registry = ToolRegistry([await build({"name": "own"})])
    catalogue = service(storage, registry)
    await catalogue.register([{"name": "a"}], principal=LOCAL)

    with pytest.raises(ToolNotFound):
        await catalogue.remove("nobody", principal=LOCAL)
    with pytest.raises(VersionNotFound):
        await catalogue.roll_back("a", "7", principal=LOCAL)
    with pytest.raises(VersionNotFound):
        await catalogue.deprecate("a", "7", principal=LOCAL)
    with pytest.raises(AccessDenied, match="the board file"):
        await catalogue.deprecate("own", principal=LOCAL)
    assert catalogue.history("own") == [only_row(registry.get("own").spec)]
    assert catalogue.diff("own")["changes"] == []


async def test_an_id_goes_along_with_the_major_version_alone() -> None:
    tool = await build({"name": "a", "version": "1.0"})

    assert [Draft.with_version(tool, version).spec.id for version in ("1.0", "1.1.0", "2.0.0")] == [
        "a_v1",
        "a_v1",
        "a_v2",
    ]


async def test_a_shelf_finds_names_of_tools_that_were_taken_off(storage: MemoryStorage) -> None:
    registry = ToolRegistry()
    things = RegisteredTools(registry, lambda name: "")
    things.swap("a", await build({"name": "a"}))
    things.take_off("a")

    assert (things.resolve_name("a_v1"), registry.names()) == ("a", ())


def test_a_day_is_written_as_text() -> None:
    with pytest.raises(ValueError, match="write a day as"):
        DeprecateBody.model_validate({"on": 0})


async def test_a_name_that_is_another_tools_id_is_taken(storage: MemoryStorage) -> None:
    registry = ToolRegistry([await build({"name": "own"})])
    catalogue = service(storage, registry)
    await catalogue.register([{"name": "mine"}], principal=LOCAL)

    for name in ("own_v1", "mine_v1"):
        with pytest.raises(DuplicateTool, match="whose id it is"):
            await catalogue.register([{"name": name}], principal=LOCAL)


async def test_what_is_removed_cannot_be_removed_again(storage: MemoryStorage) -> None:
    catalogue = service(storage, ToolRegistry())
    await catalogue.register([{"name": "a"}], principal=LOCAL)
    await catalogue.remove("a", principal=LOCAL)

    with pytest.raises(ToolNotFound):
        await catalogue.remove("a", principal=LOCAL)
    assert (await catalogue.deprecate("a", principal=LOCAL)).is_current is False


async def test_an_id_that_is_another_tools_name_is_taken(storage: MemoryStorage) -> None:
    registry = ToolRegistry([await build({"name": "own_v1"})])
    catalogue = service(storage, registry)

    with pytest.raises(DuplicateTool, match=r"Tool 'own_v1' from registration .0., whose id it is"):
        await catalogue.register([{"name": "own"}], principal=LOCAL)


async def test_a_day_that_is_over_is_taken_and_noted(storage: MemoryStorage) -> None:
    catalogue = service(storage, ToolRegistry())
    await catalogue.register([{"name": "a"}], principal=LOCAL)
    made = await catalogue.deprecate("a", on=date(2001, 1, 1), principal=LOCAL)

    assert made.note == "2001-01-01 is past: this version should no longer be used."
    assert [row["deprecated_on"] for row in catalogue.history("a")] == ["2001-01-01"]


async def test_tools_that_are_fine_one_by_one_may_be_refused_together(
    storage: MemoryStorage,
) -> None:
    def check(specs: Sequence[ToolSpec]) -> None:
        raise DependencyCycle(tuple(spec.id for spec in specs))

    registry = ToolRegistry()
    catalogue = service(storage, registry, check=check)
    with pytest.raises(DependencyCycle, match="a_v1 -> b_v1 -> a_v1"):
        await catalogue.register([{"name": "a"}, {"name": "b"}], principal=LOCAL)

    assert (registry.names(), await storage.catalogue.versions()) == ((), [])


async def two_versions(storage: MemoryStorage) -> tuple[CatalogueService, ToolRegistry]:
    """The tool `a` with versions 1.0.0 and 2.0.0; the second is current."""
    registry = ToolRegistry()
    catalogue = service(storage, registry)
    for number in (1, 2):
        await catalogue.register(
            [{"tool_id": f"a_v{number}", "name": "a", "version": f"{number}.0.0"}], principal=LOCAL
        )
    return catalogue, registry


async def test_removing_an_id_removes_only_its_versions(storage: MemoryStorage) -> None:
    catalogue, registry = await two_versions(storage)
    await registry.call("a_v1", {})

    await catalogue.remove("a_v1", principal=LOCAL)

    assert (await registry.call("a", {})).error is None
    assert isinstance((await registry.call("a_v1", {})).error, ToolNotFound)
    assert [(row["version"], row["status"]) for row in catalogue.history("a")] == [
        ("1.0.0", "removed"),
        ("2.0.0", "active"),
    ]
    with pytest.raises(ToolNotFound):
        await catalogue.remove("a_v1", principal=LOCAL)


async def test_removing_the_current_version_makes_the_one_before_current(
    storage: MemoryStorage,
) -> None:
    catalogue, registry = await two_versions(storage)
    other = ToolRegistry()
    there = service(storage, other)
    await there.load()

    await catalogue.remove("a@2", principal=LOCAL)
    await there.load()

    assert registry.get("a").spec.version == other.get("a").spec.version == "1.0.0"
    assert other.find("a@2.0.0") is None


async def test_a_removed_version_comes_back_by_a_rollback_or_a_registration(
    storage: MemoryStorage,
) -> None:
    catalogue, registry = await two_versions(storage)
    await catalogue.remove("a_v2", principal=LOCAL)
    await catalogue.register(
        [{"tool_id": "a_v2", "name": "a", "version": "2.0.0"}], principal=LOCAL
    )
    registered = registry.get("a").spec.version
    await catalogue.remove("a_v1", principal=LOCAL)
    await catalogue.roll_back("a", "1.0.0", principal=LOCAL)

    assert (registered, registry.get("a").spec.version) == ("2.0.0", "1.0.0")
    assert {row["status"] for row in catalogue.history("a")} == {"active"}


async def test_deprecating_an_id_leaves_other_versions_alone(storage: MemoryStorage) -> None:
    catalogue, _ = await two_versions(storage)

    made = await catalogue.deprecate("a_v1", principal=LOCAL)

    assert (made.version, made.is_current) == ("1.0.0", False)
    assert [row["status"] for row in catalogue.history("a")] == ["deprecated", "active"]


async def test_versions_of_a_removed_tool_can_be_listed(storage: MemoryStorage) -> None:
    catalogue, _ = await two_versions(storage)
    await catalogue.remove("a", principal=LOCAL)

    rows = catalogue.history("a_v1")
    found = catalogue.find_removed("a@1")

    assert [(row["version"], row["is_current"]) for row in rows] == [
        ("1.0.0", False),
        ("2.0.0", False),
    ]
    assert found is not None
    assert catalogue.find_removed("nothing") is None


class Interrupted(MemoryCatalogue):
    """A store that fails to change the status of a version, as often as `errors` says."""

    errors = 0

    async def mark(self, name: str, version: str, **change: Any) -> bool:
        if self.errors:
            self.errors -= 1
            raise StoreUnavailable("it went")
        return await super().mark(name, version, **change)


async def test_a_version_is_restored_by_the_request_that_repeats_a_failed_one() -> None:
    storage = MemoryStorage()
    storage.catalogue = store = Interrupted(ClosableLock())
    catalogue = service(storage, ToolRegistry())
    first = [{"name": name} for name in "ab"]
    await catalogue.register(first, principal=LOCAL)
    await catalogue.register([{**item, "version": "2.0.0"} for item in first], principal=LOCAL)
    await catalogue.remove("a@1", principal=LOCAL)
    await catalogue.remove("b@1", principal=LOCAL)
    store.errors = 1
    with pytest.raises(StoreUnavailable):
        await catalogue.register(first, principal=LOCAL)

    await catalogue.register(first, principal=LOCAL)

    assert {(item.name, item.status) for item in await store.versions()} == {
        ("a", "active"),
        ("b", "active"),
    }
