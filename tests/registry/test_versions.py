"""Every version of a definition: pinned, compared, rolled back to, deprecated."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from tests.registry.made import a_tool, add

from pegboard import Policy, ToolRegistry, tool
from pegboard.core.tool import Effect, Status, Tool
from pegboard.errors import VersionNotFound
from pegboard.registry.versions import VersionedTool, Versions
from pegboard.schemas.diff import SchemaChangeKind
from pegboard.tools import as_tool

NOW = datetime(2026, 11, 1, tzinfo=UTC)
WIDER = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "page": {"type": "integer"}},
}
NARROW = {"type": "object", "properties": {"query": {"type": "string"}}}
OTHER = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def empty() -> Versions:
    return Versions(NOW.timestamp)


def search(schema: Any = NARROW, **changes: Any) -> Tool:
    return a_tool("search", input_schema=schema, **changes)


def registered(*tools: Tool) -> Versions:
    versions = empty()
    for item in tools:
        versions.register(item)
    return versions


def numbers(versions: Versions, name: str = "search") -> list[str]:
    return [item.version for item in versions.history(name)]


def test_the_first_definition_is_the_first_version() -> None:
    versions, first = empty(), search()

    assert versions.register(first) is first
    definition = versions.current("search")
    assert (definition.version, definition.kind, definition.since) == ("1.0.0", None, NOW)


@pytest.mark.parametrize(
    ("second", "version", "kind"),
    [
        (search(description="Finds."), "1.0.1", SchemaChangeKind.WORDING),
        (search(WIDER), "1.1.0", SchemaChangeKind.ADDITIVE),
        (search(OTHER), "2.0.0", SchemaChangeKind.BREAKING),
        (search(OTHER, version="1.5.0"), "1.5.0", SchemaChangeKind.BREAKING),
        (search(version="3.0.0"), "3.0.0", None),
    ],
    ids=["words", "additive", "breaking", "its own version", "only another version"],
)
def test_a_changed_definition_is_a_new_version(
    second: Tool, version: str, kind: SchemaChangeKind
) -> None:
    versions = registered(search())

    made = versions.register(second)

    assert made.spec.version == version
    assert made.spec.id == f"search_v{version[0]}"
    assert (versions.current("search").version, versions.current("search").kind) == (version, kind)


def test_the_next_version_follows_the_highest() -> None:
    versions = registered(search(version="1.9.0"), search(WIDER, version="1.10.0"))

    assert versions.register(search(OTHER, version="1.9.0")).spec.version == "2.0.0"


def test_an_upstream_that_says_the_same_again_makes_no_version() -> None:
    versions = registered(search(), search(WIDER))
    again = search(WIDER)

    made = versions.register(again)

    assert numbers(versions) == ["1.0.0", "1.1.0"]
    assert isinstance(made, VersionedTool)
    assert (made.inner, made.spec.version) == (again, "1.1.0")
    assert versions.current("search").tool is made


def test_an_old_definition_that_comes_back_is_the_old_version() -> None:
    versions = registered(search(), search(WIDER))

    assert versions.register(search()).spec.version == "1.0.0"
    assert versions.current("search").version == "1.0.0"
    assert len(versions.history("search")) == 2


def test_what_was_rolled_back_from_does_not_come_back_by_itself() -> None:
    versions = registered(search(), search(WIDER))
    versions.roll_back("search", "1.0.0")

    listed_again = versions.register(search(WIDER))
    current = versions.current("search").version
    versions.register(search(OTHER))

    assert (listed_again.spec.version, current) == ("1.0.0", "1.0.0")
    assert versions.current("search").version == "2.0.0"


@pytest.mark.parametrize(
    ("pin", "version"),
    [
        ("search@1", "1.2.0"),
        ("search@1.1", "1.1.0"),
        ("search@1.10", "1.10.0-beta"),
        ("search@1.2.0", "1.2.0"),
        ("search@2", "2.0.0"),
    ],
)
def test_a_pin_means_the_current_version_or_the_highest_that_fits(pin: str, version: str) -> None:
    versions = registered(
        search(version="1.1.0"),
        search(version="2.0.0"),
        search(version="1.10.0-beta"),
        search(version="1.2.0"),
    )

    found = versions.find(pin)

    assert found is not None
    assert found.spec.version == version


def test_the_highest_version_is_no_preview() -> None:
    versions = registered(
        search(version="1.0.0"), search(version="1.0.0-beta"), search(version="2.0.0")
    )

    found = versions.find("search@1")

    assert found is not None
    assert found.spec.version == "1.0.0"


@pytest.mark.parametrize("pin", ["search@3", "search", "search@", "other@1", "search@1.0.0.0"])
def test_a_pin_that_fits_nothing_finds_nothing(pin: str) -> None:
    assert registered(search()).find(pin) is None


def test_versions_are_compared() -> None:
    versions = registered(search(), search(WIDER))

    diff = versions.diff("search", "1.0.0", "1.1.0")

    assert [str(change) for change in diff.changes] == [
        "input_schema.properties.page: added (additive)"
    ]
    assert versions.diff("search", "1.1.0", "1.0.0").kind is SchemaChangeKind.BREAKING


def test_a_deprecated_version_says_so_and_can_be_called() -> None:
    versions = registered(search())

    made = versions.deprecate("search", "1.0.0", on=date(2027, 1, 1), note="use find")
    listed_again = versions.register(search())

    deprecation = versions.current("search").deprecation
    assert made.spec.status is Status.DEPRECATED
    assert listed_again.spec.status is Status.DEPRECATED
    assert deprecation is not None
    assert (deprecation.on, deprecation.note) == (date(2027, 1, 1), "use find")


def test_a_deprecated_version_that_was_numbered_here_is_known_again() -> None:
    versions = registered(search(), search(WIDER))
    versions.deprecate("search", "1.1.0")

    versions.register(search(WIDER))

    assert numbers(versions) == ["1.0.0", "1.1.0"]


def test_what_is_not_there_is_told_with_what_is() -> None:
    versions = registered(search(), search(WIDER))

    with pytest.raises(VersionNotFound, match=r"no version '9'; there are 1\.0\.0, 1\.1\.0"):
        versions.get("search", "9")
    with pytest.raises(VersionNotFound, match="No version of 'find' is known"):
        versions.roll_back("find", "1.0.0")


def test_a_tool_that_is_forgotten_starts_again() -> None:
    versions = registered(search(), search(OTHER))
    versions.forget("search")

    assert versions.register(search(OTHER)).spec.version == "1.0.0"


# on a board


def on_a_board(*tools: Tool) -> ToolRegistry:
    registry = ToolRegistry(on_conflict="replace")
    for item in tools:
        registry.add(registry.versions.register(item))
    return registry


async def test_an_old_version_is_called_by_its_pin() -> None:
    registry = on_a_board(search(answer="old"), search(OTHER, answer="new"))

    old = await registry.call("search@1", {"query": "x"})
    new = await registry.call("search", {"text": "x"})
    by_id = await registry.call("search_v2@2.0", {"text": "x"})

    assert [item.unwrap() for item in (old, new, by_id)] == ["old", "new", "new"]


async def test_rolling_back_is_in_force_from_the_next_call_on() -> None:
    registry = on_a_board(search(answer="old"), search(WIDER, answer="new"))
    before = await registry.call("search", {})
    pinned_before = await registry.call("search@1", {})
    registry.add(registry.versions.roll_back("search", "1.0.0"))

    assert before.unwrap() == pinned_before.unwrap() == "new"
    assert (await registry.call("search", {})).unwrap() == "old"
    assert (await registry.call("search@1", {})).unwrap() == "old"
    assert (await registry.call("search@1.1", {})).unwrap() == "new"


async def test_a_pin_that_fits_nothing_is_no_tool() -> None:
    result = await on_a_board(search()).call("search@7", {})

    assert result.error is not None
    assert result.error.code == "tool_not_found"
    assert "Did you mean 'search'" in str(result.error)


async def test_a_tool_without_history_is_called_by_a_pin_that_fits_it() -> None:
    registry = ToolRegistry([add])

    assert (await registry.call("add@1.0", {"a": 1})).unwrap() == 2
    assert registry.find("add@2") is None


async def test_rules_about_a_tool_hold_for_its_versions() -> None:
    versions = on_a_board(search(answer="old"), search(OTHER))
    denied = versions.with_policy(Policy(deny=("search",)))

    result = await denied.call("search@1.0.0", {})

    assert result.error is not None
    assert result.error.code == "access_denied"


def test_a_view_finds_no_version_of_what_it_leaves_out() -> None:
    registry = on_a_board(search(), search(OTHER), a_tool("other"))

    assert registry.only("other").find("search@1") is None
    assert registry.only("search").find("search@1") is not None
    assert registry.renamed({"other": "search", "search": "s"}).find("search@1.0.0") is not None
    assert registry.renamed({"search": "s"}).find("s@1") is None


async def test_a_function_gets_a_version_like_any_other_tool() -> None:
    @tool(name="add", effect=Effect.READ, inline=True)
    def subtract(a: int, b: int) -> int:
        """Subtract two numbers."""
        return a - b

    registry = on_a_board(as_tool(add), as_tool(subtract))

    assert registry.get("add").spec.version == "2.0.0"
    assert (await registry.call("add", {"a": "5", "b": 3})).unwrap() == 2
    assert (await registry.call("add@1", {"a": 5, "b": 3})).unwrap() == 8
