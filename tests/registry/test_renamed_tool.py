"""A tool under another name: the same in everything but its name, also in what it says."""

from typing import Any

import pytest
from tests.registry.made import a_tool, add, wait

from pegboard import tool
from pegboard.core.context import ToolContext
from pegboard.errors import ToolArgumentError, ToolOutputError
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.registry.renamed_tool import RenamedTool
from pegboard.tools import as_tool


def test_only_the_name_and_what_follows_from_it_changes() -> None:
    inner = as_tool(add)
    spec = RenamedTool(inner, "plus").spec

    assert (spec.name, spec.id, spec.registered_name) == ("plus", "plus_v1", "add")
    assert spec.replace(name="add", registered_name="", id="add_v1") == inner.spec
    assert inner.spec.name == "add"


def test_a_tool_that_is_renamed_twice_knows_its_first_name() -> None:
    renamed = RenamedTool(RenamedTool(as_tool(add), "plus"), "sum")

    assert renamed.spec.registered_name == "add"


def test_renaming_builds_no_schema() -> None:
    built: list[int] = []

    def schema() -> dict[str, Any]:
        built.append(1)
        return {"type": "object"}

    RenamedTool(a_tool(input_schema=schema), "other")

    assert built == []


def test_arguments_are_read_as_before_and_faults_named_by_the_new_name() -> None:
    target = CompiledTool(RenamedTool(as_tool(add), "plus"), keyed=False)

    assert target.read('{"a": "5"}') == {"a": 5}
    with pytest.raises(ToolArgumentError) as caught:
        target.read({"a": "x", "c": 1})

    assert caught.value.tool == "plus"
    assert str(caught.value).startswith("Invalid arguments for 'plus':")
    assert "'add'" not in str(caught.value)
    assert [problem.path for problem in caught.value.problems] == ["a", "c"]


def test_a_raw_schema_is_enforced_under_the_new_name() -> None:
    inner = a_tool(input_schema={"type": "object", "properties": {"n": {"type": "integer"}}})
    target = CompiledTool(RenamedTool(inner, "other"), keyed=False)

    with pytest.raises(ToolArgumentError, match="Invalid arguments for 'other'"):
        target.read({"n": "x"})


def test_a_broken_promise_is_named_by_the_new_name() -> None:
    target = CompiledTool(RenamedTool(as_tool(add), "plus"), keyed=False)

    with pytest.raises(ToolOutputError, match="'plus' returned something") as caught:
        target.finish("x")

    assert caught.value.__cause__ is not None
    assert target.finish(5).structured == 5


def test_what_a_tool_offers_beyond_the_protocol_is_offered_too() -> None:
    plain, waits = RenamedTool(as_tool(add), "plus"), RenamedTool(as_tool(wait), "rest")

    assert (plain.is_async, waits.is_async) == (False, True)
    assert plain.parameter_texts == {"a": "", "b": ""}
    assert plain.needs_context is False
    assert plain.function is add


@pytest.mark.parametrize("name", ["arguments", "finish", "is_async", "anything"])
def test_what_a_tool_does_not_offer_is_not_made_up(name: str) -> None:
    assert not hasattr(RenamedTool(a_tool(), "other"), name)


async def test_what_runs_is_the_tool_itself() -> None:
    @tool
    async def who(ctx: ToolContext[Any]) -> str:
        return ctx.tool

    renamed = RenamedTool(as_tool(who), "other")

    assert await renamed.run({}, ToolContext(tool="other")) == "other"
