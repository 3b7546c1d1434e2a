from typing import Any

import pytest

from pegboard import SchemaTool, ToolRegistry, ToolSpec, tool
from pegboard.tools.input_validation import ValidationResult


@tool(effect="read")
def double(number: int) -> int:
    """Double it."""
    raise AssertionError


async def _run(_arguments: Any, _ctx: Any) -> Any:
    raise AssertionError


SCHEMA = {"properties": {"number": {"type": "integer"}}, "required": ["number"]}
RAW = SchemaTool(spec=ToolSpec(name="raw", input_schema=SCHEMA), run=_run)
REGISTRY = ToolRegistry([double, RAW]).renamed({"double": "twice"})


@pytest.mark.parametrize("name", ["twice", "raw"])
def test_a_tool_validates_arguments_as_a_call_does(name: str) -> None:
    made: Any = REGISTRY.get(name)

    assert made.validate_input({"number": "4"}) == ValidationResult()
    assert made.validate_input('{"number": 4}').valid
    refused = made.validate_input({"numbr": 4})
    assert not refused.valid
    assert sorted((item.path, item.kind) for item in refused.problems) == [
        ("number", "missing"),
        ("numbr", "unknown"),
    ]
    assert not made.validate_input("{").valid
