"""`cycle_through`: which circle there is, and whose."""

import pytest

from pegboard.registry.dependencies.cycles import cycle_through


@pytest.mark.parametrize(
    ("edges", "cycle"),
    [
        ([], ()),
        ([("a", "b"), ("b", "c"), ("a", "c")], ()),
        ([("a", "a")], ("a",)),
        ([("b", "c"), ("c", "a"), ("a", "b")], ("a", "b", "c")),
        ([("x", "a"), ("a", "b"), ("b", "a"), ("b", "y")], ("a", "b")),
    ],
    ids=["nothing", "none", "itself", "three", "with others around"],
)
def test_a_cycle_is_named_in_order(edges: list[tuple[str, str]], cycle: tuple[str, ...]) -> None:
    assert cycle_through(edges) == cycle


def test_circles_of_others_are_left_alone() -> None:
    others = [("a", "b"), ("b", "a"), ("c", "c"), ("b", "d")]

    assert cycle_through(others, is_ours=lambda node: node == "d") == ()
    assert cycle_through([*others, ("d", "d")], is_ours=lambda node: node == "d") == ("d",)


def test_a_very_long_circle_is_found() -> None:
    edges = [(f"n{at}", f"n{(at + 1) % 20_000}") for at in range(20_000)]

    assert len(cycle_through(edges)) == 20_000
