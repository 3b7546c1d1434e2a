"""Stored results behind handles, until they expire."""

import sqlite3

from pegboard.core.frozen import clean_text
from pegboard.core.ports.clock import Clock
from pegboard.core.ports.store import StoredResult
from pegboard.storage.connection import Reader
from pegboard.storage.writer import Writer

_PUT = """
    INSERT OR REPLACE INTO results
        (handle, owner, media_type, name, created_at, expires_at, body)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_GET = """
    SELECT media_type, name, created_at, expires_at, body FROM results
    WHERE handle = ? AND owner = ? AND expires_at > ?
"""


class SqliteResults:
    """The results of one database."""

    def __init__(self, writer: Writer, reader: Reader, *, clock: Clock) -> None:
        """Write and read through these."""
        self._writer = writer
        self._reader = reader
        self._clock = clock

    async def put(self, result: StoredResult) -> None:
        """Keep it until it expires.

        Raises:
            Unavailable: It could not be stored.
        """
        values = (
            clean_text(result.handle),
            clean_text(result.owner),
            clean_text(result.media_type),
            clean_text(result.name),
            result.created_at,
            result.expires_at,
            result.body,
        )

        def insert(connection: sqlite3.Connection) -> None:
            connection.execute(_PUT, values)

        await self._writer.run(insert)

    async def get(self, handle: str, owner: str) -> StoredResult | None:
        """Give it back; None when unknown, expired or somebody else's."""
        values = (clean_text(handle), clean_text(owner), self._clock.time())
        row = await self._reader.run(lambda connection: connection.execute(_GET, values).fetchone())
        if row is None:
            return None
        return StoredResult(
            handle=handle,
            owner=owner,
            media_type=row[0],
            name=row[1],
            created_at=row[2],
            expires_at=row[3],
            body=row[4],
        )


def sweep_results(connection: sqlite3.Connection, now: float) -> None:
    """Delete what has expired."""
    connection.execute("DELETE FROM results WHERE expires_at <= ?", (now,))
