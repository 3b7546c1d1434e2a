"""The knowledge index port: pieces of documents, found by their words and by their meaning."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from pegboard.core.knowledge import Piece
from pegboard.core.ports.knowledge.document_store import DocumentScope


class IndexedPiece(Struct, frozen=True, kw_only=True):
    """A piece with what it is found by.

    Attributes:
        words: Its terms (`knowledge/terms.py`), in order, joined by spaces; a line for each of
            its passages, so that a long piece is found by the best of them.
        vectors: Of the embedder `embedder`, one for each passage; empty for none.
        same_as: The id of a piece of the content before that has the same text below the same
            headings, whose vectors it takes over; empty for none.
    """

    piece: Piece
    words: str
    vectors: tuple[tuple[float, ...], ...] = ()
    same_as: str = ""


class ScoredPiece(Struct, frozen=True):
    """A piece that was found, with the raw score of its stage."""

    piece: Piece
    score: float


class WordMatches(Struct, frozen=True):
    """What was found by words.

    Attributes:
        pieces: The best first.
        rarities: By term of the question, its weight in BM25, from the passages in the scope.
    """

    pieces: Sequence[ScoredPiece] = ()
    rarities: Mapping[str, float] = {}


class VectorMatches(Struct, frozen=True):
    """What was found by vectors.

    Attributes:
        pieces: The nearest first; the score is the cosine.
        passages: How many passages in the scope have a vector.
        mean: The mean cosine of all of them.
    """

    pieces: Sequence[ScoredPiece] = ()
    passages: int = 0
    mean: float = 0.0


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
            pieces: All of it. One without vectors keeps those that its id, or that of `same_as`,
                has already.
            embedder: The name of the model that made the vectors; empty for none.

        Raises:
            DocumentNotFound: It was deleted meanwhile; nothing was stored.
        """
        ...

    async def put_vectors(
        self, embedder: str, vectors: Mapping[str, Sequence[Sequence[float]]]
    ) -> None:
        """Store vectors of another model, by the id of the piece, beside those that are there.

        A piece that was deleted meanwhile is left out.
        """
        ...

    async def delete_vectors(self, base: str, embedder: str) -> None:
        """Delete the vectors of a model that a base no longer uses."""
        ...

    async def search_words(
        self, terms: Mapping[str, float], scope: DocumentScope, *, limit: int
    ) -> WordMatches:
        """The best pieces by the weighted terms that they share with a question (BM25)."""
        ...

    async def search_vectors(
        self, vector: Sequence[float], scope: DocumentScope, *, embedder: str, limit: int
    ) -> VectorMatches:
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

    async def list_with_vectors(self, document: str, embedder: str) -> Sequence[str]:
        """The ids of the pieces of a document that have vectors of a model."""
        ...

    async def list_without_vectors(
        self, base: str, embedder: str, *, limit: int = 100
    ) -> Sequence[Piece]:
        """Pieces of a base that have no vector of a model yet, in no special order."""
        ...

    async def count_without_vectors(self, base: str, embedder: str) -> int:
        """How many pieces of a base have no vector of a model yet."""
        ...

    async def count_vectors(self, base: str) -> Mapping[str, int]:
        """How many pieces of a base have vectors, by the name of the model."""
        ...

    async def pack(self, base: str) -> None:
        """Arrange what a base has so that the first search of a process loads it at once."""
        ...

    async def preload(self, base: str, *, embedder: str = "") -> None:
        """Load what a base has into memory before its first question, unless much is there already.

        Args:
            base: Its id.
            embedder: The name of the model whose vectors answer; empty for words alone.
        """
        ...

    async def drop_deleted(self) -> None:
        """Drop from memory what was deleted; each search does so, too."""
        ...
