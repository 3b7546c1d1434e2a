"""Pieces with what they are found by: their terms, and the vectors of their passages."""

import hashlib
from collections.abc import Collection, Sequence

from pegboard.core.knowledge import Piece
from pegboard.core.ports.embedder import Embedder
from pegboard.core.ports.knowledge.index import IndexedPiece, KnowledgeIndex
from pegboard.knowledge.terms import cut_passages, list_terms

_TEXTS_AT_ONCE = 64
_READ_AT_ONCE = 1_000
_MAX_HEAD = 300
"""Characters of title and headings, which stand before each passage."""


def index_piece(piece: Piece, *, title: str = "") -> IndexedPiece:
    """A piece with the terms of its text, its headings and the title of its document."""
    head = " ".join(part for part in (title, piece.heading) if part)
    lines = list_terms(piece.text)
    above = list_terms(head[:_MAX_HEAD]).replace("\n", " ")
    words = "\n".join(f"{above} {line}".strip() for line in lines.split("\n"))
    return IndexedPiece(piece=piece, words=words)


async def find_embedded(
    pieces: Sequence[Piece], index: KnowledgeIndex, *, document: str, embedder: str
) -> dict[str, str]:
    """By its id, which piece of the index has the vectors of a new one already.

    It is the piece itself, or one of the document's content before with the same text below the
    same headings: on another page, as when a page was inserted.

    Args:
        pieces: The new ones.
        index: Has those of before.
        document: Its id.
        embedder: The name of the model.
    """
    known = frozenset(await index.list_with_vectors(document, embedder))
    found = {piece.id: piece.id for piece in pieces if piece.id in known}
    if not known or len(found) == len(pieces):
        return found
    before: dict[bytes, str] = {}
    start = 1
    while those := await index.list_pieces(document, start=start, limit=_READ_AT_ONCE):
        before |= {_digest(piece): piece.id for piece in those if piece.id in known}
        start = those[-1].number + 1
    moved = {piece.id: before.get(_digest(piece), "") for piece in pieces if piece.id not in found}
    return found | {new: old for new, old in moved.items() if old}


def _digest(piece: Piece) -> bytes:
    """What the vectors of a piece depend on."""
    named = f"{piece.heading}\0{piece.text}"
    return hashlib.sha256(named.encode("utf-8", "surrogatepass")).digest()


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
