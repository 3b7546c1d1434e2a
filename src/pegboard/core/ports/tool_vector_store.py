"""The tool vector store port: the vectors of texts of tools, so that a start embeds none again."""

from collections.abc import Mapping, Sequence
from typing import Protocol

MAX_TOOL_VECTORS = 50_000
"""Vectors that a board stores; beyond them those that were stored first are deleted."""


class ToolVectorStore(Protocol):
    """Stores vectors by the name of the model and the digest of the text. It stores no text."""

    async def find(self, embedder: str, digests: Sequence[bytes]) -> dict[bytes, Sequence[float]]:
        """The stored vectors among these, by digest, with the precision of 32 bits."""
        ...

    async def put(self, embedder: str, vectors: Mapping[bytes, Sequence[float]]) -> None:
        """Store vectors by digest; one that is stored already stays as it is."""
        ...

    async def forget(self, embedder: str) -> int:
        """Delete the vectors of a model; returns their number."""
        ...
