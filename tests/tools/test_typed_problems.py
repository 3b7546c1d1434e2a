"""What is wrong with typed arguments is told at once, precisely, and in bounds."""

from datetime import date
from typing import Annotated, Any

import pytest
from pydantic import Field
from tests.tools.reading import refused, tool_of
from tests.tools.shapes import Cat, Dog, Item, Price

from pegboard.errors import Problem, ToolArgumentError
from pegboard.tools import as_tool


def test_all_problems_are_told_at_once() -> None:
    def order(items: list[Item], when: date, note: str = "") -> None: ...

    with pytest.raises(ToolArgumentError) as caught:
        _arguments_of(order)(
            '{"items": [{"sku": 5, "price": {"amount": "x"}}], "when": "soon", "noet": ""}'
        )

    assert str(caught.value).splitlines() == [
        "Invalid arguments for 'order':",
        "- items[0].sku: expected a string, found 5 (number)",
        '- items[0].price.amount: expected a number, found "x" (string)',
        '- when: expected a date such as 2027-01-31, input is too short, found "soon" (string)',
        "- noet: unknown argument; did you mean 'note'?",
    ]


def test_a_problem_says_what_kind_it_is() -> None:
    def order(count: int, day: date, name: str) -> None: ...

    with pytest.raises(ToolArgumentError) as caught:
        _arguments_of(order)('{"count": "x", "day": "y", "z": 1}')

    assert {problem.path: problem.kind for problem in caught.value.problems} == {
        "count": "type",
        "day": "value",
        "name": "missing",
        "z": "unknown",
    }


def test_a_missing_argument_is_told_with_its_description() -> None:
    def find(query: Annotated[str, Field(description="What to look for")]) -> None: ...

    with pytest.raises(ToolArgumentError) as caught:
        _arguments_of(find)(None)

    assert caught.value.problems == (
        Problem(path="query", message="missing, required (What to look for)", kind="missing"),
    )


@pytest.mark.parametrize("name", ["\0", "\0000", "[key]", "", "0", "a.b", "function-after"])
def test_an_argument_of_any_name_is_told_as_unknown(name: str) -> None:
    with pytest.raises(ToolArgumentError) as caught:
        tool_of(Cat | Dog).arguments({"x": {"kind": "dog", "cat": "Tom"}, name: 1})

    assert [problem.kind for problem in caught.value.problems] == ["unknown"]


def test_a_thousand_problems_are_cut_to_twenty() -> None:
    assert len(refused(list[int], str(["a"] * 1000).replace("'", '"'))) == 20


def test_a_thousand_unknown_arguments_are_cut_to_twenty() -> None:
    text = "{" + ", ".join(f'"k{index}": 1' for index in range(1000)) + "}"

    assert len(refused(Price, text)) == 20


def test_a_member_of_a_union_is_judged_by_the_fault_that_came_closest() -> None:
    assert refused(Cat | Dog, '{"kind": "cow", "lives": 1}') == [
        "x.kind: expected 'cat', found \"cow\" (string)"
    ]


def _arguments_of(function: Any) -> Any:
    return as_tool(function).arguments  # type: ignore[attr-defined]  # a FunctionTool has them
