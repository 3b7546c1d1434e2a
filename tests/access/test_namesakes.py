"""Which tools run the same thing, and when that concerns others."""

from pegboard.access.namesakes import Namesakes


def test_tools_that_run_the_same_are_found_together() -> None:
    namesakes = Namesakes()

    concerns = [namesakes.put("refund", "shop:refund"), namesakes.put("give", "shop:refund")]

    assert concerns == [False, True]
    assert list(namesakes.find("shop:refund")) == ["refund", "give"]


def test_a_partial_runs_its_function_but_not_the_other_way_round() -> None:
    namesakes = Namesakes()
    namesakes.put("refund_here", "shop:refund#1")

    assert namesakes.put("refund", "shop:refund") is True
    assert list(namesakes.find("shop:refund#1")) == ["refund_here", "refund"]
    assert list(namesakes.find("shop:refund")) == ["refund"]


def test_a_tool_that_runs_something_else_now_is_forgotten_for_the_first() -> None:
    namesakes = Namesakes()
    namesakes.put("refund", "shop:refund")
    namesakes.put("give", "shop:refund")

    assert namesakes.put("give", "shop:give") is True
    assert list(namesakes.find("shop:refund")) == ["refund"]
    assert namesakes.remove("give") is False
    assert list(namesakes.find("shop:give")) == []


def test_a_tool_of_unknown_target_concerns_no_other() -> None:
    namesakes = Namesakes()

    assert [namesakes.put("a", ""), namesakes.put("b", ""), namesakes.remove("a")] == [False] * 3


def test_the_names_of_a_view_are_apart() -> None:
    namesakes, of_view = Namesakes(), Namesakes()
    namesakes.put("refund", "shop:refund")
    of_view.update(namesakes)

    of_view.put("give", "shop:refund")

    assert list(namesakes.find("shop:refund")) == ["refund"]
    assert list(of_view.find("shop:refund")) == ["refund", "give"]
