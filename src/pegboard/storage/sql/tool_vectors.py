"""Vectors of tools, in a database."""

import sys
from array import array
from collections.abc import Mapping, Sequence

from sqlalchemy import delete, func, select

from pegboard.core.record_snapshot import clean_text
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.tables import TOOL_VECTORS as TABLE

_CHUNK = 500
_NUMBER = 4
"""Bytes of a number: IEEE 754, little-endian."""


class SqlToolVectors:
    """The `ToolVectorStore` of a database."""

    def __init__(self, database: StorageDatabase, *, most: int) -> None:
        """Keep them there, at most so many."""
        self._database = database
        self._most = most

    async def find(self, embedder: str, digests: Sequence[bytes]) -> dict[bytes, Sequence[float]]:
        name = clean_text(embedder)
        found: dict[bytes, Sequence[float]] = {}
        for start in range(0, len(digests), _CHUNK):
            keys = [digest.hex() for digest in digests[start : start + _CHUNK]]
            wanted = select(TABLE.c.digest, TABLE.c.body).where(
                TABLE.c.embedder == name, TABLE.c.digest.in_(keys)
            )
            # one transaction for each chunk: others write in between
            for row in await self._database.read(lambda it, wanted=wanted: it.all(wanted)):
                if len(row.body) % _NUMBER == 0:
                    found[bytes.fromhex(row.digest)] = _decode(bytes(row.body))
        return found

    async def put(self, embedder: str, vectors: Mapping[bytes, Sequence[float]]) -> None:
        name = clean_text(embedder)
        # in one order, so that servers that do the same do not lock each other
        rows = [
            {"embedder": name, "digest": digest.hex(), "body": _encode(vectors[digest])}
            for digest in sorted(vectors)
        ]

        def put(transaction: Transaction) -> None:
            statement = transaction.insert(TABLE)
            transaction.execute(
                statement.on_conflict_do_nothing(index_elements=["embedder", "digest"]), rows
            )
            count = transaction.first(select(func.count()).select_from(TABLE))
            if count is not None and count[0] > self._most:
                oldest = select(TABLE.c.number).order_by(TABLE.c.number)
                beyond = oldest.limit(count[0] - self._most)
                transaction.execute(delete(TABLE).where(TABLE.c.number.in_(beyond)))

        if rows:
            await self._database.run(put, atomic=True)

    async def forget(self, embedder: str) -> int:
        statement = delete(TABLE).where(TABLE.c.embedder == clean_text(embedder))
        return await self._database.run(lambda it: it.execute(statement), atomic=True)


def _encode(vector: Sequence[float]) -> bytes:
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _decode(body: bytes) -> list[float]:
    numbers = array("f", body)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()
