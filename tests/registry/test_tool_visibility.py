"""Lists and searches judge the sources that a caller may know of, and the tools of these."""

from collections.abc import Iterable
from typing import Any

import pytest

from pegboard.access import Policy
from pegboard.access.visibility import ResourceIndex, VisibilityDecision
from pegboard.core.ports.accounts.resource_store import StoredResource
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Tool, ToolSpec
from pegboard.execution import CallEnvironment
from pegboard.execution.emitter import Emitter
from pegboard.registry import ToolRegistry
from pegboard.registry.tool_visibility import ToolsBySource, may_see
from pegboard.tools import SchemaTool

BOB = Principal(id="bob", user="bob", roles=frozenset({"acme/editor"}))


class CountingIndex(ResourceIndex):
    """Counts how often a source is judged."""

    def __init__(self) -> None:
        super().__init__()
        self.judged: list[str] = []

    def resolve_source(self, principal: Principal, source: str) -> VisibilityDecision | None:
        self.judged.append(source)
        return super().resolve_source(principal, source)


@pytest.fixture
def registry() -> ToolRegistry:
    index = CountingIndex()
    index.use([_row("bob"), _row("eve")], [])
    environment = CallEnvironment(policy=Policy(), emitter=Emitter(()), resource_index=index)
    made = ToolRegistry(environment=environment)
    for owner, count in (("eve", 50), ("bob", 3)):
        for number in range(count):
            made.add(_tool(f"{owner}--crm", f"find_{number}"))
    index.judged.clear()
    return made


def _row(owner: str) -> StoredResource:
    return StoredResource(
        id=owner, kind="connector", name=f"{owner}--crm", owner=owner, created_at=0, updated_at=0
    )


def _tool(source: str, action: str, description: str = "") -> SchemaTool:
    async def run(_arguments: Any, _ctx: Any) -> str:
        return source

    schema: dict[str, Any] = {"type": "object", "properties": {}}
    name = f"{source}__{action}"
    spec = ToolSpec(
        name=name, action=action, source=source, description=description, input_schema=schema
    )
    return SchemaTool(spec=spec, run=run)


def test_a_list_and_a_search_judge_no_source_that_is_hidden(registry: ToolRegistry) -> None:
    index: Any = registry.environment.policy.resource_index
    listed = registry.visible(BOB)
    found = registry.search("find", principal=BOB)

    assert {tool.spec.source for tool in (*listed, *found)} == {"bob--crm"}
    assert registry.nearest("bob--crm__find_7", BOB) != ()
    assert set(index.judged) == {"bob--crm"}


@pytest.mark.parametrize("principal", [BOB, LOCAL, Principal(id="eve", user="eve")])
def test_a_list_holds_what_may_be_seen(registry: ToolRegistry, principal: Principal) -> None:
    expected = [tool for tool in registry if may_see(tool, principal, registry.environment)]

    assert registry.visible(principal) == list(registry.iterate_known(principal)) == expected
    assert len(expected) in {3, 50, 53}


@pytest.mark.parametrize(
    "question", ["find", "the orders of a customer", "finding", "fnid_1", "orders and customers"]
)
def test_what_others_have_moves_no_rank(registry: ToolRegistry, question: str) -> None:
    texts = ["orders", "orders of a customer", "customers and their orders", "find the orders"]
    for number, text in enumerate(texts):
        registry.add(_tool("bob--crm", f"list_{number}", text))
    alone = ToolRegistry(registry.visible(BOB))
    for number in range(200):
        registry.add(_tool("eve--crm", f"list_{number}", f"findings {texts[number % 3]}"))

    found = registry.search(question, principal=BOB)
    assert _names(found) == _names(alone.search(question))
    assert found or question == "fnid_1"


def test_lists_follow_each_change_in_the_order_of_registration(registry: ToolRegistry) -> None:
    registry.add(_tool("shop", "buy"))
    registry.visible(BOB)
    registry.remove("bob--crm__find_0")
    registry.add(_tool("bob--crm", "find_0"))
    registry.add(_tool("bob--crm", "find_1", "Another one."), replace=True)
    registry.add(_tool("shop", "sell"))
    assert _names(registry.visible(BOB)) == [
        "bob--crm__find_1",
        "bob--crm__find_2",
        "shop__buy",
        "bob--crm__find_0",
        "shop__sell",
    ]

    registry.environment.resource_index.use([], [])
    assert _names(registry.visible(BOB)) == ["shop__buy", "shop__sell"]
    assert set(registry.list_sources(BOB)) == {"shop"}


def test_a_tool_that_moves_to_another_source_is_listed_there_alone() -> None:
    tools: dict[str, Tool] = {"find": _tool("bob--crm", "find")}
    groups = ToolsBySource(tools)
    groups.put("find")
    assert list(groups.list_groups()) == ["bob--crm"]
    tools["find"] = _tool("eve--crm", "find")
    groups.put("find")
    assert list(groups.list_groups()) == ["eve--crm"]


def _names(tools: Iterable[Tool]) -> list[str]:
    return [tool.spec.name for tool in tools]
