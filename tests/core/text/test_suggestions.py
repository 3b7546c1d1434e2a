"""Names that were perhaps meant."""

import pytest

from pegboard.core.text.suggestions import did_you_mean, nearest_names


def test_the_nearest_come_first() -> None:
    names = ["shop__refund_order", "shop__find_order", "crm__find_customer"]

    assert nearest_names("shop__find_ordr", names) == ("shop__find_order", "shop__refund_order")


def test_tools_of_one_source_are_near_by_their_action() -> None:
    names = ["warehouse__area", "warehouse__later", "warehouse__save_note"]

    assert nearest_names("warehouse__are", names) == ("warehouse__area",)
    assert nearest_names("warehouse__zzz", names) == ()


def test_an_action_without_its_source_is_recognised() -> None:
    assert nearest_names("q", ["db__q", "db__query_everything"]) == ("db__q",)
    assert nearest_names("tables", ["database__tables"]) == ("database__tables",)


def test_names_that_may_not_be_told_are_not() -> None:
    assert nearest_names("find", ["find_a", "find_b"], may_name=lambda n: n == "find_b") == (
        "find_b",
    )


@pytest.mark.parametrize(
    ("name", "near"),
    [
        pytest.param("nmae", "name", id="two letters changed places"),
        pytest.param("NAME", "name", id="capital letters"),
        pytest.param("defualt", "Default", id="and in what exists"),
    ],
)
def test_slips_of_the_keyboard_are_understood(name: str, near: str) -> None:
    assert nearest_names(name, ["name", "Default", "other"]) == (near,)


def test_so_many_are_named_at_most() -> None:
    names = [f"find_{letter}" for letter in "abcdef"]

    assert [len(nearest_names("find", names, most=most)) for most in (1, 2, 3)] == [1, 2, 3]
    assert len(nearest_names("find", names)) == 3


def test_of_thousands_the_nearest_is_found_too() -> None:
    names = [f"tool_{number}" for number in range(10_000)] + ["weather__forecast"]

    assert nearest_names("wether__forcast", names) == ("weather__forecast",)


def test_a_long_name_is_looked_at_as_far_as_names_reach() -> None:
    assert nearest_names("a" * 100_000, ["a" * 64]) == ("a" * 64,)


def test_it_is_asked_what_was_meant() -> None:
    names = ["find_a", "find_b", "other"]

    assert did_you_mean("other_", names) == "did you mean 'other'?"
    assert did_you_mean("find_", names, most=3) == "did you mean 'find_b' or 'find_a'?"
    assert did_you_mean("zzz", names) == ""
    assert did_you_mean("zzz", names, otherwise="there are three") == "there are three"
