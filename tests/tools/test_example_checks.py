"""Examples of arguments fit the schema of their tool."""

import pytest
from tests.registry.made import a_tool

from pegboard import ToolRegistry, tool
from pegboard.errors import ToolSignatureError
from pegboard.tools.example_checks import check_examples

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def test_examples_that_fit_are_accepted() -> None:
    registry = ToolRegistry([a_tool(input_schema=SCHEMA, examples=({"city": "Rome"},))])

    assert registry.get("shop__find").spec.examples == ({"city": "Rome"},)
    check_examples(a_tool().spec)


@pytest.mark.parametrize("wrong", [{}, {"city": 1}, {"city": "Rome", "town": "x"}], ids=str)
def test_an_example_that_does_not_fit_is_named_with_its_fault(wrong: dict[str, object]) -> None:
    made = a_tool(input_schema=SCHEMA, examples=({"city": "Rome"}, wrong))

    with pytest.raises(ToolSignatureError, match=r"'shop__find': examples\[1\] does not fit"):
        ToolRegistry([made])


def test_the_examples_of_a_function_are_checked_by_its_own_types() -> None:
    @tool(examples=[{"day": "2026-01-01"}, {"day": "tomorrow"}])
    def forecast(day: str, hours: int) -> str:
        """Tell the weather."""
        return day + str(hours)

    with pytest.raises(ToolSignatureError, match=r"(?s)examples\[0\].*hours"):
        ToolRegistry([forecast])
