"""The tools of a connector are put on the board, and their definitions are stored."""

from tests.registry.made import a_tool
from tests.storage.test_resources import a_resource

from pegboard import ToolRegistry
from pegboard.core.ports.accounts.resource_store import Definitions
from pegboard.runtime.sources.connector_publisher import ConnectorPublisher
from pegboard.runtime.sources.placeholder import ToolPlaceholder, to_definition
from pegboard.runtime.sources.state import SourceState
from pegboard.storage import MemoryStorage

NAME = "ada--github"
TOOL = a_tool(f"{NAME}__list", source=NAME, action="list")


async def find(name: str) -> ToolPlaceholder:
    raise AssertionError(name)


async def test_what_is_listed_replaces_what_was_restored_and_is_stored() -> None:
    registry, store = ToolRegistry(), MemoryStorage().resources
    row = a_resource(name=NAME)
    await store.add(row)
    known: dict[str, Definitions] = {}
    publisher = ConnectorPublisher(registry, store, lambda _: row, known=known)
    old = a_tool(f"{NAME}__old", source=NAME, action="old")

    publisher.restore(NAME, [to_definition(old.spec), {"name": "broken"}], find)
    restored = publisher.list_names(NAME)
    faults = await publisher.publish_tools(SourceState(name=NAME, kind="openapi"), [TOOL])

    assert (restored, faults) == ((f"{NAME}__old",), "")
    assert (registry.names(), publisher.list_names(NAME)) == ((f"{NAME}__list",),) * 2
    assert (await store.changes()).definitions == {"r1": (to_definition(TOOL.spec),)}
    publisher.remove(NAME)
    assert registry.names() == ()


async def test_what_a_closed_source_lists_is_not_published() -> None:
    registry = ToolRegistry()
    publisher = ConnectorPublisher(registry, MemoryStorage().resources, lambda _: None, known={})

    assert await publisher.publish_tools(SourceState(name=NAME, kind="openapi"), [TOOL]) == ""
    assert registry.names() == ()
