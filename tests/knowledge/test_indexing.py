"""Pieces with what they are found by."""

from collections.abc import Sequence

from pegboard.core.knowledge import Piece
from pegboard.knowledge.indexing import embed_pieces, index_piece


def a_piece(key: str, text: str, heading: str = "") -> Piece:
    return Piece(
        id=key,
        document="d1",
        base="b1",
        number=1,
        text=text,
        start=0,
        end=len(text),
        heading=heading,
    )


class Recorder:
    """Gives a text the vector of its length."""

    name = "test:length"

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        self.texts += texts
        return [[float(len(text)), 1.0] for text in texts]


LONG = "\n".join(f"Line {number} of a page with words." for number in range(60))


def test_title_and_headings_stand_before_each_passage() -> None:
    words = index_piece(a_piece("p1", LONG, "Travel"), title="Handbook").words

    lines = words.split("\n")
    assert len(lines) > 2
    assert all(line.startswith("handbook travel ") for line in lines)


def test_a_title_without_end_is_cut() -> None:
    words = index_piece(a_piece("p1", LONG), title="long title " * 100_000).words

    assert len(words) < 20_000


def test_a_piece_without_text_has_a_line() -> None:
    assert index_piece(a_piece("p1", "")).words == ""


async def test_each_passage_of_a_new_piece_is_embedded_once_and_in_order() -> None:
    embedder = Recorder()
    pieces = [a_piece("old", "old"), a_piece("p1", LONG, "Travel"), a_piece("p2", "short")]

    vectors = await embed_pieces(pieces, embedder, known=["old"])

    assert list(vectors) == ["p1", "p2"]
    assert len(vectors["p1"]) == len(index_piece(pieces[1]).words.split("\n"))
    assert vectors["p2"] == ((5.0, 1.0),)
    assert embedder.texts[0].startswith("Travel\nLine 0")
    assert "old" not in embedder.texts
