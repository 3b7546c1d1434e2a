"""How a tool is read while its path is compiled."""

from typing import Any

import pytest
from tests.execution.made import PlainTool, a_spec

from pegboard import tool
from pegboard.core.result import ToolResult
from pegboard.errors import SourceUnavailable, ToolArgumentError, ToolOutputError
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.tools import as_tool


def plain(**changes: Any) -> CompiledTool:
    async def run(_arguments: Any, _ctx: Any) -> None:
        return None

    return CompiledTool(PlainTool(a_spec(**changes), run), keyed=False)


@tool
def add(a: int, b: int = 1) -> int:
    return a + b


def test_a_tool_that_is_only_the_protocol_is_read_by_its_schemas() -> None:
    target = plain(
        input_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
        output_schema={"type": "integer"},
    )

    assert target.read('{"n": "5"}') == {"n": 5}
    assert target.finish(5) == ToolResult(content="5", structured=5)
    assert target.needs_context
    with pytest.raises(ToolArgumentError):
        target.read({"n": "x"})
    with pytest.raises(ToolOutputError):
        target.finish("x")


def test_without_an_output_schema_anything_is_wrapped() -> None:
    assert plain().finish({"a": 1}).structured == {"a": 1}


def test_a_function_reads_its_own_arguments() -> None:
    made = as_tool(add)
    target = CompiledTool(made, keyed=True)

    assert target.read({"a": "2"}) == {"a": 2}
    assert target.tool is made
    assert not target.needs_context
    assert target.keyed


def test_a_broken_schema_is_an_error_of_the_source() -> None:
    with pytest.raises(SourceUnavailable, match="'find' has a broken JSON Schema"):
        plain(input_schema={"type": "nonsense"})
