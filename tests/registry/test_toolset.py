"""A toolset narrows a registry for one request, and grants nothing."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from tests.execution.made import Heard

from pegboard import Policy, ToolContext, ToolRegistry, tool
from pegboard.core.event import CallRecord
from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.principal import LOCAL
from pegboard.core.tool import Tool
from pegboard.errors import AccessDenied, ToolNotFound
from pegboard.graphs import run_graph
from pegboard.registry.toolset import Toolset


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def double(a: int) -> int:
    """Double a number."""
    return 2 * a


@tool
def doubled_twice(a: int) -> int:
    """Double a number twice."""
    return 4 * a


def only(*names: str) -> Any:
    def reaches(tool: Tool) -> bool:
        return tool.spec.name in names

    return reaches


NOTHING = only()


def toolset_of(registry: ToolRegistry, *listed: str, reaches: Any = NOTHING) -> Toolset:
    return Toolset(
        registry=registry, listed=tuple(registry.get(name) for name in listed), reaches=reaches
    )


async def test_what_is_listed_or_reached_is_called_like_on_the_registry() -> None:
    registry = ToolRegistry([add, double, doubled_twice])
    toolset = toolset_of(registry, "add", reaches=only("double"))

    assert (await toolset.call("add", {"a": 1, "b": 2})).unwrap() == 3
    assert (await toolset.call("double", {"a": 2})).unwrap() == 4
    assert [tool.spec.name for tool in toolset] == ["add"]
    assert len(toolset) == 1


async def test_what_is_not_reached_is_unknown_in_answer_and_record() -> None:
    heard = Heard()
    registry = ToolRegistry([add, double, doubled_twice], listeners=[heard])
    toolset = toolset_of(registry, "double")
    hidden = await toolset.call("doubled_twice", {"a": 1})
    unknown = await toolset.call("doubled_twicee", {"a": 1})

    assert toolset.find("doubled_twice") is None
    assert isinstance(hidden.error, ToolNotFound)
    assert "'double'" in str(hidden.error)
    assert str(unknown.error) == str(hidden.error).replace("doubled_twice", "doubled_twicee")
    records = [event for event in heard.events if isinstance(event, CallRecord)]
    assert [(record.tool, record.status) for record in records] == [
        ("doubled_twice", "invalid"),
        ("doubled_twicee", "invalid"),
    ]


async def test_it_grants_nothing_that_the_policy_denies() -> None:
    registry = ToolRegistry([add], policy=Policy(deny=("add",)))
    result = await toolset_of(registry, "add").call("add", {"a": 1, "b": 2})

    assert isinstance(result.error, AccessDenied | ToolNotFound)


async def test_it_takes_the_place_of_a_registry_for_graphs() -> None:
    registry = ToolRegistry([add, double])
    toolset = toolset_of(registry, "double")
    ran = await run_graph(
        Graph(nodes=(Node(id="a", tool="double", input={"a": 4}),)), board=toolset
    )

    assert (ran.state, ran.output) == (NodeState.COMPLETED, {"a": 8})
    with pytest.raises(Exception, match="add"):
        await run_graph(
            Graph(nodes=(Node(id="a", tool="add", input={"a": 4, "b": 1}),)), board=toolset
        )


def test_models_are_shown_the_listed_tools_rendered_once() -> None:
    toolset = toolset_of(ToolRegistry([add, double]), "double", "add")

    assert [tool.name for tool in toolset.model_tools] == ["double", "add"]
    assert toolset.model_tools is toolset.model_tools
    assert toolset.model_tools[1].parameters["required"] == ["a", "b"]


def test_suggestions_are_reachable_tools() -> None:
    registry = ToolRegistry([add, double, doubled_twice])

    assert toolset_of(registry, "double").nearest("doubel", LOCAL) == ("double",)


async def test_a_tool_that_is_removed_is_not_kept() -> None:
    registry = ToolRegistry([add])
    toolset = toolset_of(registry, "add")
    registry.remove("add")

    result = await toolset.call("add", {"a": 1, "b": 2}, ToolContext())
    assert isinstance(result.error, ToolNotFound)


async def test_a_tool_whose_source_fails_later_is_not_reached_for_that() -> None:
    registry = ToolRegistry([add, double])
    failing = replace(registry.environment, why_missing=lambda _: "its source failed")
    registry.apply(failing)
    toolset = toolset_of(registry, "add")

    assert isinstance((await toolset.call("double", {"a": 2})).error, ToolNotFound)
    assert (await toolset.call("add", {"a": 1, "b": 2})).unwrap() == 3


async def test_a_tool_whose_source_answers_later_is_called_only_where_it_is_reached() -> None:
    registry = ToolRegistry([add])
    answered = asyncio.Event()
    coming = {"double": answered, "doubled_twice": answered}
    registry.apply(replace(registry.environment, pending_source=coming.get))
    toolset = toolset_of(registry, "add", reaches=only("double"))
    calls = [
        asyncio.ensure_future(toolset.call(name, {"a": 2})) for name in ("double", "doubled_twice")
    ]
    await asyncio.sleep(0)
    registry.add(double)
    registry.add(doubled_twice)
    coming.clear()
    answered.set()
    reached, other = await asyncio.gather(*calls)

    assert reached.unwrap() == 4
    assert isinstance(other.error, ToolNotFound)
