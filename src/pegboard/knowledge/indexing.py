"""Pieces with what they are found by: their terms, and the vectors of their passages."""

from collections.abc import Collection, Sequence

from pegboard.core.knowledge import Piece
from pegboard.core.ports.embedder import Embedder
from pegboard.core.ports.knowledge.index import IndexedPiece
from pegboard.knowledge.terms import cut_passages, list_terms

_TEXTS_AT_ONCE = 64
_MAX_HEAD = 300
"""Characters of title and headings, which stand before each passage."""


def index_piece(piece: Piece, *, title: str = "") -> IndexedPiece:
    """A piece with the terms of its text, its headings and the title of its document."""
    head = " ".join(part for part in (title, piece.heading) if part)
    lines = list_terms(piece.text)
    above = list_terms(head[:_MAX_HEAD]).replace("\n", " ")
    words = "\n".join(f"{above} {line}".strip() for line in lines.split("\n"))
    return IndexedPiece(piece=piece, words=words)


async def embed_pieces(
    pieces: Sequence[Piece], embedder: Embedder, *, known: Collection[str] = ()
) -> dict[str, tuple[tuple[float, ...], ...]]:
    """The vectors of the passages of each piece, by its id; those of `known` are left out.

    Raises:
        Unavailable: The embedder fails.
    """
    texts = [
        (piece.id, f"{piece.heading[:_MAX_HEAD]}\n{passage}" if piece.heading else passage)
        for piece in pieces
        if piece.id not in known
        for passage in cut_passages(piece.text)
    ]
    vectors: dict[str, list[tuple[float, ...]]] = {}
    for at in range(0, len(texts), _TEXTS_AT_ONCE):
        part = texts[at : at + _TEXTS_AT_ONCE]
        for (key, _), row in zip(
            part, await embedder.embed([text for _, text in part]), strict=True
        ):
            vectors.setdefault(key, []).append(tuple(row))
    return {key: tuple(rows) for key, rows in vectors.items()}
