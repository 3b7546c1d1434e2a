"""Vectors of tools, in memory."""

from array import array
from collections.abc import Mapping, Sequence

from pegboard.concurrency.closable_lock import ClosableLock


class MemoryToolVectors:
    """A `ToolVectorStore` in memory. Safe for several threads."""

    def __init__(self, gate: ClosableLock, *, most: int) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        self._gate = gate
        self._most = most
        self._vectors: dict[tuple[str, bytes], array[float]] = {}

    async def find(self, embedder: str, digests: Sequence[bytes]) -> dict[bytes, Sequence[float]]:
        with self._gate:
            known = ((digest, self._vectors.get((embedder, digest))) for digest in digests)
            return {digest: vector.tolist() for digest, vector in known if vector is not None}

    async def put(self, embedder: str, vectors: Mapping[bytes, Sequence[float]]) -> None:
        with self._gate:
            for digest, vector in vectors.items():
                self._vectors.setdefault((embedder, digest), array("f", vector))
            for key in list(self._vectors)[: max(0, len(self._vectors) - self._most)]:
                del self._vectors[key]

    async def forget(self, embedder: str) -> int:
        with self._gate:
            keys = [key for key in self._vectors if key[0] == embedder]
            for key in keys:
                del self._vectors[key]
            return len(keys)
