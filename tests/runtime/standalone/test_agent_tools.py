"""What an agent in a program may call."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pegboard import Policy, ToolRegistry, tool
from pegboard.core.health import HEALTHY, Health
from pegboard.core.principal import LOCAL
from pegboard.core.tool import Tool
from pegboard.errors import ConfigError, ToolSignatureError
from pegboard.registry.toolset import Toolset
from pegboard.runtime.standalone.agent_tools import AgentTools
from pegboard.tools import as_tool


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def subtract(a: int, b: int) -> int:
    """Subtract two numbers."""
    return a - b


class Shelf:
    """A source whose tools change."""

    name = "shelf"

    def __init__(self) -> None:
        self.listed: list[Any] = [add]

    async def tools(self) -> Sequence[Tool]:
        return [as_tool(item, source=self.name) for item in self.listed]

    async def health(self) -> Health:
        return HEALTHY

    async def close(self) -> None: ...

    def on_change(self, notify: Callable[[], None]) -> None: ...


class Client:
    """A client whose tools are a list, as `MCPClient`."""

    def as_tools(self) -> list[Any]:
        return [add, subtract]


async def names_of(tools: Any, policy: Policy | None = None) -> list[str]:
    toolset = await AgentTools(tools, policy=policy).assemble(LOCAL)
    return [item.spec.name for item in toolset]


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        ([add, subtract], ["add", "subtract"]),
        ([as_tool(add)], ["add"]),
        ([Shelf(), subtract], ["shelf__add", "subtract"]),
        ([Client()], ["add", "subtract"]),
        (ToolRegistry([add]), ["add"]),
        (
            Toolset(registry=ToolRegistry([add, subtract]), listed=(as_tool(subtract),)),
            ["subtract"],
        ),
        ((), []),
    ],
    ids=["functions", "a tool", "a source", "a client", "a registry", "a toolset", "nothing"],
)
async def test_every_kind_of_tool_is_taken(tools: Any, names: list[str]) -> None:
    assert await names_of(tools) == names


async def test_a_later_tool_replaces_an_earlier_one_of_its_name() -> None:
    @tool(name="add")
    def count(a: int) -> int:
        """Count."""
        return a

    toolset = await AgentTools([add, subtract, count], policy=None).assemble(LOCAL)

    assert sorted(item.spec.name for item in toolset) == ["add", "subtract"]
    assert (await toolset.call("add", {"a": 7})).unwrap() == 7


async def test_a_source_is_listed_at_each_run() -> None:
    shelf = Shelf()
    tools = AgentTools([shelf], policy=None)
    before = await tools.assemble(LOCAL)
    shelf.listed.append(subtract)

    assert (len(before), len(await tools.assemble(LOCAL))) == (1, 2)


async def test_what_the_policy_denies_is_not_listed() -> None:
    assert await names_of([add, subtract], Policy(deny=("add",))) == ["subtract"]


@pytest.mark.parametrize(
    ("tools", "policy", "message"),
    [
        (ToolRegistry(), Policy(), "cannot be combined"),
        ([ToolRegistry()], None, "give it alone"),
        (add, None, "several tools"),
        ("add", None, "several tools"),
    ],
    ids=["a policy beside another", "a registry in a list", "one tool", "a name"],
)
def test_what_cannot_be_meant_is_refused(tools: Any, policy: Policy | None, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        AgentTools(tools, policy=policy)


def test_what_cannot_become_a_tool_is_refused_at_once() -> None:
    with pytest.raises(ToolSignatureError):
        AgentTools([7], policy=None)


async def test_a_misspelt_rule_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    policy = Policy(deny=("subtrakt", "*delete*"), ask=("add", "refund"))
    made = AgentTools([Client(), Shelf()], policy=policy)
    await made.assemble(LOCAL)
    await made.assemble(LOCAL)

    assert [record.getMessage() for record in caplog.records] == [
        "Agent: the deny rule 'subtrakt' matches no tool; did you mean 'subtract'?",
        "Agent: the ask rule 'refund' matches no tool",
    ]


async def test_the_tools_of_one_run_warn_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    AgentTools([], policy=Policy(ask=("refund",)), warns=False)

    assert not caplog.records
