"""`restored`: a server follows what another one registers."""

from collections.abc import Mapping
from typing import Any

from tests.features.catalogue.made import Counted, build, service

from pegboard import ToolRegistry
from pegboard.core.principal import LOCAL
from pegboard.storage import MemoryStorage

MANY = [{"name": f"t{number}"} for number in range(30)]


async def test_only_what_another_server_changed_is_made_anew(storage: MemoryStorage) -> None:
    registry, counted = ToolRegistry(), Counted()
    here, there = service(storage, ToolRegistry()), service(storage, registry, build=counted)
    await here.register(MANY, principal=LOCAL)
    await there.load()
    await here.register(
        [{"name": "t3", "description": "Other."}, {"name": "more"}], principal=LOCAL
    )
    await here.remove("t4", principal=LOCAL)
    await here.deprecate("t5", principal=LOCAL)
    await there.load()

    assert counted.times == 30 + 5  # two versions of t3, and `more`, t4 and t5
    assert registry.get("t3").spec.description == "Other."
    assert registry.get("t5").spec.status.value == "deprecated"
    assert ("t4" in registry, "more" in registry) == (False, True)


async def test_a_tool_is_on_the_board_while_its_new_version_is_made(
    storage: MemoryStorage,
) -> None:
    registry, seen = ToolRegistry(), list[bool]()

    async def looking(definition: Mapping[str, Any]) -> Any:
        seen.append("t1" in registry)
        return await build(definition)

    here, there = service(storage, ToolRegistry()), service(storage, registry, build=looking)
    await here.register(MANY, principal=LOCAL)
    await there.load()
    seen.clear()
    await here.register([{**item, "description": "Other."} for item in MANY], principal=LOCAL)
    await there.load()

    assert set(seen) == {True}
    assert registry.get("t1").spec.version == "1.0.1"


async def test_nothing_is_told_when_there_is_nothing_to_follow(storage: MemoryStorage) -> None:
    registry = ToolRegistry()
    catalogue = service(storage, registry)
    await catalogue.register(MANY, principal=LOCAL)
    told: list[str] = []
    registry.changes.listen(lambda kind, _uri: told.append(kind))
    await catalogue.load()

    assert told == []


async def test_what_can_no_longer_be_made_leaves_the_board(storage: MemoryStorage) -> None:
    registry = ToolRegistry()
    here = service(storage, registry)
    await here.register([{"name": "a"}], principal=LOCAL)
    here._builds = lambda: lambda definition: build({})  # a plug that is gone
    await here.load(anew=True)

    assert registry.names() == ()


async def test_what_another_server_took_away_can_be_rolled_back_to_at_once(
    storage: MemoryStorage,
) -> None:
    here, there = service(storage, ToolRegistry()), service(storage, ToolRegistry())
    await here.register([{"name": "a"}], principal=LOCAL)
    made = await there.roll_back("a", "1.0.0", principal=LOCAL)

    assert (made.version, made.is_current) == ("1.0.0", True)
