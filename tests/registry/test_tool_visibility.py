"""A list judges each source once, and each tool of what is visible."""

from typing import Any

import pytest

from pegboard.access import Policy
from pegboard.access.visibility import ResourceIndex, VisibilityDecision
from pegboard.core.ports.resource_store import StoredResource
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import ToolSpec
from pegboard.execution import CallEnvironment
from pegboard.execution.emitter import Emitter
from pegboard.registry import ToolRegistry
from pegboard.registry.tool_visibility import may_see
from pegboard.tools import SchemaTool

BOB = Principal(id="bob", user="bob")


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


def _tool(source: str, action: str) -> SchemaTool:
    async def run(_arguments: Any, _ctx: Any) -> str:
        return source

    schema: dict[str, Any] = {"type": "object", "properties": {}}
    name = f"{source}__{action}"
    spec = ToolSpec(name=name, action=action, source=source, input_schema=schema)
    return SchemaTool(spec=spec, run=run)


def test_a_list_and_a_search_judge_a_hidden_source_once(registry: ToolRegistry) -> None:
    index: Any = registry.environment.policy.resource_index
    listed = registry.visible(BOB)
    in_list = index.judged.count("eve--crm")
    found = registry.search("find", principal=BOB)

    assert {tool.spec.source for tool in (*listed, *found)} == {"bob--crm"}
    assert (in_list, index.judged.count("eve--crm")) == (1, 2)


@pytest.mark.parametrize("principal", [BOB, LOCAL, Principal(id="eve", user="eve")])
def test_a_list_holds_what_may_be_seen(registry: ToolRegistry, principal: Principal) -> None:
    expected = [tool for tool in registry if may_see(tool, principal, registry.environment)]

    assert registry.visible(principal) == expected
    assert len(expected) in {3, 50, 53}
