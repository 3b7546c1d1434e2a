"""A required audit trail has each change of the catalogue first, as `telling` words it."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.features.catalogue.made import service
from tests.features.trail import Trail

from pegboard import ToolRegistry
from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.catalogue_stores import ToolVersion
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AuditUnavailable, InvalidRequest, StoreUnavailable, ToolNotFound
from pegboard.features.catalogue import CatalogueService
from pegboard.features.catalogue.audit_events import about_to
from pegboard.storage import MemoryStorage
from pegboard.storage.memory.catalogue import MemoryCatalogue

ANN = Principal(id="ann", tenant="acme", scopes=frozenset({"catalogue:write"}))
ONE = {"name": "one", "description": "first"}
NEWER = {"name": "one", "description": "second"}


class Failing(MemoryCatalogue):
    """A store that is there to read, and cannot always keep what is new."""

    errors: list[Exception]

    async def add(self, versions: Any) -> None:
        if self.errors:
            raise self.errors.pop()
        await super().add(versions)


def a_catalogue(storage: MemoryStorage, **more: Any) -> tuple[CatalogueService, Trail]:
    trail, registry = Trail(), ToolRegistry()
    registry.environment.emitter.add(trail)
    return service(storage, registry, prove=trail.prove, **more), trail


Change = Callable[[CatalogueService], Awaitable[object]]
CHANGES: dict[str, Change] = {
    "register": lambda catalogue: catalogue.register([{"name": "two"}], principal=ANN),
    "remove": lambda catalogue: catalogue.remove("one", principal=ANN),
    "roll_back": lambda catalogue: catalogue.roll_back("one", "1.0.0", principal=ANN),
    "deprecate": lambda catalogue: catalogue.deprecate("one", principal=ANN),
}


async def state(storage: MemoryStorage) -> tuple[list[ToolVersion], list[tuple[str, str]]]:
    active = [(item.name, item.version) for item in await storage.catalogue.active()]
    return list(await storage.catalogue.versions()), active


@pytest.mark.parametrize("name", CHANGES)
async def test_no_change_is_made_that_the_trail_cannot_take(
    storage: MemoryStorage, name: str
) -> None:
    catalogue, trail = a_catalogue(storage)
    await catalogue.register([ONE], principal=LOCAL)
    await catalogue.register([NEWER], principal=LOCAL)
    before, shown = await state(storage), catalogue.history("one")
    trail.is_away, trail.events[:] = True, []
    with pytest.raises(AuditUnavailable):
        await CHANGES[name](catalogue)
    refused = await state(storage), catalogue.history("one"), list(trail.events)
    trail.is_away, trail.decisions[:] = False, []
    await CHANGES[name](catalogue)

    assert refused == (before, shown, [])
    assert await state(storage) != before
    [decision], [event] = trail.decisions, trail.events
    assert decision.body["action"] == name
    assert (decision.kind, decision.tenant, decision.body["about"]) == (
        "decision",
        "acme",
        "catalogue",
    )
    assert (decision.body["by"], decision.body["subject"]) == (event.by, event.subject)


async def test_a_bulk_is_one_decision_and_what_changes_nothing_is_none(
    storage: MemoryStorage,
) -> None:
    catalogue, trail = a_catalogue(storage)
    many = [{"name": f"t{number}"} for number in range(600)]
    await catalogue.register(many, origin="bulk", principal=ANN)
    trail.is_away = True
    await catalogue.register(many, origin="bulk", principal=ANN)
    with pytest.raises(ToolNotFound):
        await catalogue.remove("nobody", principal=ANN)

    [decision] = trail.decisions
    body = decision.body
    assert (body["action"], body["subject"], body["count"]) == ("register", "", 600)
    assert (body["origin"], body["names"][:2], len(body["names"])) == ("bulk", ["t0", "t1"], 500)


async def test_what_the_store_then_refuses_is_told_after_its_decision() -> None:
    storage = MemoryStorage()
    storage.catalogue = store = Failing(ClosableLock())
    store.errors = [StoreUnavailable("it went"), InvalidRequest("its version is taken")]
    catalogue, trail = a_catalogue(storage)
    for error in (InvalidRequest, StoreUnavailable):
        with pytest.raises(error):
            await catalogue.register([ONE], principal=ANN)
    await catalogue.register([ONE], principal=ANN)

    assert trail.decided == [("register", "one")] * 3
    assert [(event.action, event.subject) for event in trail.events] == [
        ("failed", "one"),
        ("unknown", "one"),
        ("registered", "one"),
    ]
    assert trail.events[0].detail["reason"] == "its version is taken"


async def test_a_number_that_another_server_took_is_no_second_decision(
    storage: MemoryStorage,
) -> None:
    other = service(storage, ToolRegistry())

    class Slower(MemoryCatalogue):
        async def add(self, versions: Any) -> None:
            if not store.was_late:
                store.was_late = True
                await other.register([NEWER], principal=LOCAL)
            await storage.catalogue.add(versions)

        async def revision(self) -> int:
            return await storage.catalogue.revision()

        async def versions(self, name: str = "") -> Any:
            return await storage.catalogue.versions(name)

        async def active(self) -> Any:
            return await storage.catalogue.active()

        was_late = False

    mine = MemoryStorage()
    mine.catalogue = store = Slower(ClosableLock())
    catalogue, trail = a_catalogue(mine)
    [made] = await catalogue.register([ONE], principal=ANN)

    assert (made.version, trail.decided) == ("1.0.1", [("register", "one")])
    assert [event.action for event in trail.events] == ["registered"]


async def test_what_is_done_is_told_although_nothing_could_follow_it(
    storage: MemoryStorage,
) -> None:
    async def changed() -> None:
        raise StoreUnavailable("the graph cannot be kept")

    catalogue, trail = a_catalogue(storage, changed=changed)
    with pytest.raises(StoreUnavailable):
        await catalogue.register([ONE], principal=ANN)

    assert [(event.action, event.subject) for event in trail.events] == [("registered", "one")]


@pytest.mark.parametrize("name", CHANGES)
async def test_a_change_is_done_although_the_store_cannot_be_read_after_it(name: str) -> None:
    class Unreadable(MemoryCatalogue):
        looks = -1

        async def revision(self) -> int:
            self.looks -= 1
            if self.looks == 0:
                raise StoreUnavailable("it cannot be read", nothing_done=True)
            return await super().revision()

    storage = MemoryStorage()
    storage.catalogue = store = Unreadable(ClosableLock())
    catalogue, trail = a_catalogue(storage)
    await catalogue.register([ONE], principal=LOCAL)
    await catalogue.register([NEWER], principal=LOCAL)
    trail.events[:], store.looks = [], 2  # the first look is before the change
    await CHANGES[name](catalogue)
    await catalogue.load()
    other = service(storage, ToolRegistry())
    await other.load()

    [event] = trail.events
    assert event.action not in {"failed", "unknown"}
    assert catalogue.history("one") == other.history("one")


async def test_without_a_required_trail_a_failure_is_not_told() -> None:
    storage, trail, registry = MemoryStorage(), Trail(), ToolRegistry()
    storage.catalogue = store = Failing(ClosableLock())
    store.errors = [StoreUnavailable("it went")]
    registry.environment.emitter.add(trail)
    with pytest.raises(StoreUnavailable):
        await service(storage, registry).register([ONE], principal=LOCAL)

    assert (trail.decisions, trail.events) == ([], [])


def test_of_one_tool_its_name_is_the_subject() -> None:
    event = about_to("remove", [("one", "")], principal=ANN, at=1.0, version="1.0.0")

    assert (event.subject, event.detail["version"], event.detail["count"]) == ("one", "1.0.0", 1)
