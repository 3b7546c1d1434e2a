from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.rendering.svg.layout import Layout

WAYS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), max_size=20)


@settings(max_examples=100, deadline=None)
@given(WAYS)
def test_whatever_leads_where_all_have_a_place_of_their_own(ways: list[tuple[str, str]]) -> None:
    layout = Layout(dict.fromkeys("abcdefgh", 50.0), ways, gap=10.0)

    assert sorted(p for layer in layout.layers for p in layer if isinstance(p, str)) == list(
        "abcdefgh"
    )
    assert min(layout.left.values()) >= 0
    for layer in layout.layers:
        ends = [(layout.left[p], layout.left[p] + layout.width_of(p)) for p in layer]
        assert all(a[1] + 9.99 <= b[0] for a, b in pairwise(ends))
    for chain in layout.chains.values():
        depths = [layout.depth_of[point] for point in chain]
        assert depths == list(range(depths[0], depths[0] + len(depths)))


def test_a_chain_stands_in_one_line() -> None:
    layout = Layout({"a": 40, "b": 100, "c": 60}, [("a", "b"), ("b", "c")], gap=10)

    assert layout.layers == [["a"], ["b"], ["c"]]
    assert layout.middle("a") == layout.middle("b") == layout.middle("c")


def test_two_that_stand_apart_do_not_cross() -> None:
    widths: dict[str, float] = dict.fromkeys("abxy", 40.0)
    layout = Layout(widths, [("a", "y"), ("b", "x")], gap=10)

    upper, lower = layout.layers
    assert [{"a": "y", "b": "x"}[str(point)] for point in upper] == lower
