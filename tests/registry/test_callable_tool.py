from collections.abc import Mapping
from typing import Any

import pytest

from pegboard import ToolRegistry, tool
from pegboard.errors import ToolArgumentError
from pegboard.registry.callable_tool import CallableTool
from pegboard.tools import as_tool


@tool(effect="read")
def double(number: int) -> int:
    """Double it."""
    return number * 2


REGISTRY = ToolRegistry([double])


def call(name: str, arguments: Mapping[str, Any]) -> Any:
    return REGISTRY.call_sync(name, arguments).unwrap()


CALLABLE = CallableTool(as_tool(double), call)


def test_calling_it_gives_the_value_of_a_call_or_its_error() -> None:
    assert CALLABLE(number="4") == 8
    with pytest.raises(ToolArgumentError, match="numbr"):
        CALLABLE(numbr=4)


async def test_it_is_a_tool_as_any_other() -> None:
    registry = ToolRegistry([CALLABLE])

    assert (await registry.call("double", {"number": "4"})).unwrap() == 8
    assert CALLABLE.__name__ == "double"
    assert CALLABLE.__tool_spec__["function"]["name"] == "double"
    assert as_tool(CALLABLE, source="shop").spec.name == "shop__double"
