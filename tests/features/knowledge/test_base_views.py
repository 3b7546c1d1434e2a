"""Parts of texts."""

import pytest

from pegboard.core.knowledge import PageSpan, Piece
from pegboard.features.knowledge.base_views import cut_page


def make_pieces(*spans: tuple[int, int]) -> list[Piece]:
    """Pieces at these places."""
    return [
        Piece(id=f"p{at}", document="d", base="b", number=at, text="", start=start, end=end)
        for at, (start, end) in enumerate(spans, 1)
    ]


@pytest.mark.parametrize(
    "spans",
    [
        [(2, 9), (10, 20), (20, 30)],
        [(0, 12), (8, 20), (16, 30)],
        [(0, 0), (0, 0), (0, 0)],
        [],
    ],
    ids=["apart", "overlapping", "empty", "none"],
)
def test_the_parts_of_a_page_are_the_whole_page(spans: list[tuple[int, int]]) -> None:
    page, shown = PageSpan(number=0, start=0, end=3_000), ""
    while len(shown) < page.end:
        part = cut_page(page, make_pieces(*spans), offset=len(shown), limit=1)
        assert part.start == len(shown)
        shown += "x" * (part.end - part.start)

    assert len(shown) == page.end


def test_a_part_begins_with_the_piece_in_which_its_offset_stands() -> None:
    page = PageSpan(number=0, start=0, end=30)

    part = cut_page(page, make_pieces((0, 10), (10, 20), (20, 30)), offset=14, limit=1)

    assert (part.start, part.end) == (10, 20)
