"""First outcomes by idempotency key."""

import sqlite3

from pegboard.core.frozen import clean_text
from pegboard.core.ports.clock import Clock
from pegboard.core.ports.store import Outcome
from pegboard.core.result import ToolResult
from pegboard.storage.codec import dump_result, load_result
from pegboard.storage.writer import Writer

_TAKE = """
    INSERT INTO outcomes (owner, key, tool, digest, created_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (owner, key) DO NOTHING
"""
_WHO = "SELECT tool, digest, created_at, result FROM outcomes WHERE owner = ? AND key = ?"
_SETTLE = "UPDATE outcomes SET result = ? WHERE owner = ? AND key = ?"
_RELEASE = "DELETE FROM outcomes WHERE owner = ? AND key = ? AND result IS NULL"
_EXPIRE = "DELETE FROM outcomes WHERE owner = ? AND key = ? AND created_at <= ?"


class SqliteOutcomes:
    """The idempotency keys of one database.

    A claim that a crash left behind stays taken, without a result, until it expires: what it did
    is unknown, so it is not done again.
    """

    def __init__(self, writer: Writer, *, clock: Clock, ttl: float) -> None:
        """Keep each key for `ttl` seconds from its claim."""
        self._writer = writer
        self._clock = clock
        self._ttl = ttl

    async def claim(self, outcome: Outcome) -> Outcome | None:
        """Take the key if it is free and return None; else return who has it.

        Raises:
            Unavailable: It could not be stored.
        """
        place = (clean_text(outcome.owner), clean_text(outcome.key))
        values = (*place, clean_text(outcome.tool), outcome.digest, outcome.created_at)
        expired = self._clock.time() - self._ttl

        def take(connection: sqlite3.Connection) -> tuple[str, str, float, str | None] | None:
            connection.execute(_EXPIRE, (*place, expired))
            if connection.execute(_TAKE, values).rowcount:
                return None
            return connection.execute(_WHO, place).fetchone()

        row = await self._writer.run(take)
        if row is None:
            return None
        tool, digest, created_at, result = row
        return Outcome(
            key=outcome.key,
            owner=outcome.owner,
            tool=tool,
            digest=digest,
            created_at=created_at,
            result=None if result is None else load_result(result),
        )

    async def settle(self, owner: str, key: str, result: ToolResult) -> None:
        """Store the outcome of a claimed key.

        Raises:
            Unavailable: It could not be stored.
        """
        values = (dump_result(result), clean_text(owner), clean_text(key))

        def update(connection: sqlite3.Connection) -> None:
            connection.execute(_SETTLE, values)

        await self._writer.run(update)

    async def release(self, owner: str, key: str) -> None:
        """Give a claimed key back: nothing was done. A settled key stays.

        Raises:
            Unavailable: It could not be stored.
        """
        place = (clean_text(owner), clean_text(key))

        def delete(connection: sqlite3.Connection) -> None:
            connection.execute(_RELEASE, place)

        await self._writer.run(delete)


def sweep_outcomes(connection: sqlite3.Connection, created_before: float) -> None:
    """Forget keys that were claimed before this time."""
    connection.execute("DELETE FROM outcomes WHERE created_at <= ?", (created_before,))
