"""`drafted`: every fault is told, and what is known is not made anew."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.features.catalogue.made import Counted, build, service

from pegboard import ToolRegistry
from pegboard.core.ports.catalogue_stores import ToolVersion
from pegboard.core.principal import LOCAL
from pegboard.errors import DuplicateTool, InvalidRequest
from pegboard.registry.change_notifier import ChangeKind
from pegboard.storage import MemoryStorage

MANY = [{"name": f"t{number}", "url": "https://x.example"} for number in range(50)]


async def test_every_fault_is_told_with_its_place_and_nothing_is_registered(
    storage: MemoryStorage,
) -> None:
    registry = ToolRegistry()
    wrong = [*MANY[:3], {"url": "x"}, {"name": "shop__x"}, *MANY[3:]]
    with pytest.raises(InvalidRequest) as raised:
        await service(storage, registry).register(wrong, principal=LOCAL)

    first, second, third = raised.value.message.splitlines()
    assert (first, second) == ("Nothing was registered:", "- [3] name: missing")
    assert third.startswith("- [4] Tool 'shop__x' from registration [4] cannot be called so")
    assert (len(registry), await storage.catalogue.versions()) == (0, [])


async def test_a_name_that_is_taken_is_told_with_its_place(storage: MemoryStorage) -> None:
    with pytest.raises(DuplicateTool, match=r"registration \[50\]"):
        await service(storage, ToolRegistry()).register(
            [*MANY, {"name": "shop__x"}], principal=LOCAL
        )


async def test_so_many_faults_are_told_and_no_more(storage: MemoryStorage) -> None:
    counted = Counted()
    with pytest.raises(InvalidRequest) as raised:
        await service(storage, ToolRegistry(), build=counted).register(
            [{}] * 1_000, principal=LOCAL
        )

    lines = raised.value.message.splitlines()
    assert (len(lines), lines[-1][:10]) == (22, "- and more")
    assert counted.times == 21


async def test_what_is_known_is_neither_made_nor_kept_nor_told_again(
    storage: MemoryStorage,
) -> None:
    registry, counted = ToolRegistry(), Counted()
    catalogue = service(storage, registry, build=counted)
    await catalogue.register(MANY, principal=LOCAL)
    revision, told = await storage.catalogue.revision(), listening(registry)

    made = await catalogue.register(MANY, principal=LOCAL)

    assert [(item.is_new, item.is_current) for item in made] == [(False, True)] * 50
    assert (counted.times, told, await storage.catalogue.revision()) == (50, [], revision)


async def test_a_batch_is_kept_in_one_go_and_told_once(storage: MemoryStorage) -> None:
    registry = ToolRegistry()
    told, catalogue = listening(registry), service(storage, registry)
    await catalogue.register(MANY, principal=LOCAL)
    revision = await storage.catalogue.revision()
    await catalogue.register([{**item, "description": "Other."} for item in MANY], principal=LOCAL)

    assert told == ["tools", "tools"]
    assert await storage.catalogue.revision() == revision + 1


async def test_a_known_tool_that_could_not_be_used_is_made_anew(storage: MemoryStorage) -> None:
    registry, lacking = ToolRegistry(), ["a"]

    async def making(definition: Mapping[str, Any]) -> Any:
        tool = await build(definition)
        if lacking:
            tool.spec = tool.spec.replace(unavailable="not yet")
        return tool

    catalogue = service(storage, registry, build=making)
    await catalogue.register([{"name": "a"}], principal=LOCAL)
    lacking.clear()
    [made] = await catalogue.register([{"name": "a"}], principal=LOCAL)

    assert (made.is_new, made.spec.unavailable, registry.get("a").spec.unavailable) == (
        False,
        "",
        "",
    )


async def test_what_is_wrong_with_a_schema_shows_before_anything_is_kept(
    storage: MemoryStorage,
) -> None:
    async def making(definition: Mapping[str, Any]) -> Any:
        tool = await build(definition)

        def schema() -> Any:
            raise InvalidRequest("this schema cannot be read")

        tool.spec = tool.spec.replace(input_schema=schema)
        return tool

    with pytest.raises(InvalidRequest, match="cannot be read"):
        await service(storage, ToolRegistry(), build=making).register(
            [{"name": "a"}], principal=LOCAL
        )

    assert await storage.catalogue.versions() == []


async def test_who_comes_second_with_a_version_is_numbered_after_it(
    storage: MemoryStorage,
) -> None:
    here = service(storage, ToolRegistry())
    there = service(storage, ToolRegistry())
    await there.load()
    await here.register([{"name": "a", "url": "here"}], principal=LOCAL)
    [made] = await there.register([{"name": "a", "url": "there"}], principal=LOCAL)

    assert (made.version, made.is_new) == ("1.0.1", True)


async def test_who_comes_second_at_the_very_same_time_is_too(storage: MemoryStorage) -> None:
    here, there = service(storage, ToolRegistry()), service(storage, ToolRegistry())
    add, other = storage.catalogue.add, [{"name": "a", "url": "here"}]

    async def late(versions: list[ToolVersion]) -> None:
        if other:
            await here.register([other.pop()], principal=LOCAL)
        await add(versions)

    there._store = _Late(storage.catalogue, late)  # pyright: ignore[reportAttributeAccessIssue] - the moment between reading and writing
    [made] = await there.register([{"name": "a", "url": "there"}], principal=LOCAL)

    assert (made.version, made.is_new) == ("1.0.1", True)


class _Late:
    """A store in which another server writes right before this one."""

    def __init__(self, inner: Any, add: Any) -> None:
        self._inner = inner
        self.add = add

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def listening(registry: ToolRegistry) -> list[ChangeKind]:
    """What is told of the registry from now on."""
    told: list[ChangeKind] = []
    registry.changes.listen(lambda kind, _uri: told.append(kind))
    return told


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (
            ("own", "own_v1"),
            r"'own_v1' from registration \[1\] .* 'own' of the same request, whose",
        ),
        (
            ("own_v1", "own"),
            r"'own_v1' from registration \[1\], whose id it is, .* 'own_v1' of the",
        ),
    ],
)
async def test_a_name_is_not_the_id_of_another_tool_of_the_same_request(
    storage: MemoryStorage, names: tuple[str, str], says: str
) -> None:
    registry = ToolRegistry()
    with pytest.raises(DuplicateTool, match=says):
        await service(storage, registry).register(
            [{"name": name} for name in names], principal=LOCAL
        )

    assert (registry.names(), await storage.catalogue.versions()) == ((), [])


async def test_what_another_wrote_right_after_is_not_overlooked(storage: MemoryStorage) -> None:
    mine = ToolRegistry()
    here, there = service(storage, mine), service(storage, ToolRegistry())
    await here.load()
    add = storage.catalogue.add

    async def overtaken(versions: list[ToolVersion]) -> None:
        await add(versions)
        await there.register([{"name": "theirs"}], principal=LOCAL)

    here._store = _Late(storage.catalogue, overtaken)  # pyright: ignore[reportAttributeAccessIssue] - the moment between writing and reading
    await here.register([{"name": "mine"}], principal=LOCAL)
    await here.load()

    assert sorted(mine.names()) == ["mine", "theirs"]
