"""The knowledge index port: pieces of documents, found by their words and by their meaning."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from pegboard.core.knowledge import Piece
from pegboard.core.ports.document_store import DocumentScope


class IndexedPiece(Struct, frozen=True, kw_only=True):
    """A piece with what it is found by.

    Attributes:
        words: Its terms (`knowledge/terms.py`), in order, joined by spaces.
        vector: Of the embedder `embedder`; empty for none.
    """

    piece: Piece
    words: str
    vector: tuple[float, ...] = ()


class ScoredPiece(Struct, frozen=True):
    """A piece that was found, with the raw score of its stage."""

    piece: Piece
    score: float


class KnowledgeIndex(Protocol):
    """Finds pieces; what is not in the scope is neither found, counted nor ranked by.

    Where few pieces are in the scope, the search by meaning is exact: `limit` pieces come back
    whenever as many are there.
    """

    async def put(
        self, document: str, revision: int, pieces: Sequence[IndexedPiece], *, embedder: str = ""
    ) -> None:
        """Store the pieces of a document in place of those before, at once: all, or none.

        Args:
            document: Its id.
            revision: Of its text.
            pieces: All of it.
            embedder: The name of the model that made the vectors; empty for none.
        """
        ...

    async def put_vectors(self, embedder: str, vectors: Mapping[str, Sequence[float]]) -> None:
        """Store vectors of a model, by the id of the piece, beside those that are there.

        They may come before their pieces: `put` then takes those that it is not given from here.
        """
        ...

    async def get_vectors(self, embedder: str, ids: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """The stored vectors of a model, by the id of the piece, without those that are missing."""
        ...

    async def search_words(
        self, terms: Sequence[str], scope: DocumentScope, *, limit: int
    ) -> Sequence[ScoredPiece]:
        """The best pieces by the words that they share with a question (BM25), best first."""
        ...

    async def search_vectors(
        self, vector: Sequence[float], scope: DocumentScope, *, embedder: str, limit: int
    ) -> Sequence[ScoredPiece]:
        """The nearest pieces by the vectors of a model (cosine), nearest first."""
        ...

    async def list_pieces(
        self, document: str, *, start: int = 1, limit: int = 100
    ) -> Sequence[Piece]:
        """The pieces of a document, in order, from a number on."""
        ...

    async def get_pieces(self, ids: Sequence[str], scope: DocumentScope) -> Sequence[Piece]:
        """Those of these ids that are in the scope, in the order of the ids."""
        ...

    async def count(self, scope: DocumentScope) -> int:
        """How many pieces of ready documents are in the scope."""
        ...

    async def count_without_vectors(self, base: str, embedder: str) -> int:
        """How many pieces of a base have no vector of a model yet."""
        ...
