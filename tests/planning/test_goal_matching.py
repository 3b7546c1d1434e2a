from tests.planning.board import a_tool

from pegboard.planning.goal_matching import tool_for


def test_a_name_comes_before_a_task_and_a_task_before_an_action() -> None:
    named = a_tool("shop__sum", source="shop")
    answering = a_tool("llm__tell", supported_tasks=("sum",), source="llm")

    assert tool_for("shop__sum", [named, answering]) == (named, [])
    assert tool_for("sum", [named, answering]) == (None, [answering])
    assert tool_for("sum", [named]) == (named, [])
