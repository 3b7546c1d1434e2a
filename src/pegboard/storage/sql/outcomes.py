"""First outcomes by idempotency key."""

from typing import Any

from sqlalchemy import bindparam, delete, null, select, update

from pegboard.core.ports.call_stores import Outcome
from pegboard.core.ports.clock import Clock
from pegboard.core.record_snapshot import clean_text
from pegboard.core.result import ToolResult
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import PreparedInsert, Transaction
from pegboard.storage.result_codec import dump_result, load_result
from pegboard.storage.tables import OUTCOMES as TABLE

_OWNER = TABLE.c.owner == bindparam("owner_")
_KEY = TABLE.c.key == bindparam("key_")
_OURS = TABLE.c.holder == bindparam("holder_")
_TAKE = PreparedInsert(
    lambda insert: insert(TABLE).on_conflict_do_nothing(index_elements=["owner", "key"]),
    "owner",
    "key",
    "tool",
    "digest",
    "created_at",
    "holder",
    "held_until",
)
_WHO = PreparedInsert(
    lambda _: select(
        TABLE.c.tool,
        TABLE.c.digest,
        TABLE.c.created_at,
        TABLE.c.result,
        TABLE.c.holder,
        TABLE.c.held_until,
    ).where(_OWNER, _KEY),
    "owner_",
    "key_",
)
_HOLD = PreparedInsert(
    lambda _: (
        update(TABLE)
        .values(holder=bindparam("by"), held_until=bindparam("until"))
        .where(_OWNER, _KEY, _OURS, TABLE.c.result.is_(null()))
    ),
    "by",
    "until",
    "owner_",
    "key_",
    "holder_",
)
_SETTLE = PreparedInsert(
    lambda _: update(TABLE).values(result=bindparam("result")).where(_OWNER, _KEY, _OURS),
    "result",
    "owner_",
    "key_",
    "holder_",
)
_RELEASE = PreparedInsert(
    lambda _: delete(TABLE).where(_OWNER, _KEY, _OURS, TABLE.c.result.is_(null())),
    "owner_",
    "key_",
    "holder_",
)
_EXPIRE = PreparedInsert(
    lambda _: delete(TABLE).where(_OWNER, _KEY, TABLE.c.created_at <= bindparam("before")),
    "owner_",
    "key_",
    "before",
)


class SqlOutcomes:
    """The idempotency keys of one database.

    A claim left by a crash stays taken, without a result, until it expires: its outcome is unknown,
    so the call is not repeated.
    """

    def __init__(self, database: StorageDatabase, *, clock: Clock, ttl: float) -> None:
        """Keep each key for `ttl` seconds from its claim."""
        self._database = database
        self._clock = clock
        self._ttl = ttl

    async def claim(self, outcome: Outcome) -> Outcome | None:
        """Claim the key if it is free and return None; otherwise return the current claim.

        Raises:
            Unavailable: It could not be stored.
        """
        place = (clean_text(outcome.owner), clean_text(outcome.key))
        call = (clean_text(outcome.tool), outcome.digest, outcome.created_at)
        values = (*place, *call, outcome.holder, outcome.held_until)
        expired = self._clock.time() - self._ttl

        def take(transaction: Transaction) -> tuple[Any, ...] | None:
            transaction.quick(_EXPIRE, (*place, expired))
            if transaction.quick(_TAKE, values).rowcount:
                return None
            return transaction.quick(_WHO, place).fetchone()

        # An expired key that is deleted, and not taken, is harmless.
        row = await self._database.run(take, atomic=True)
        if row is None:
            return None
        tool, digest, created_at, result, holder, held_until = row
        return Outcome(
            key=outcome.key,
            owner=outcome.owner,
            tool=tool,
            digest=digest,
            created_at=created_at,
            result=None if result is None else load_result(result),
            holder=holder,
            held_until=held_until,
        )

    async def hold(self, claim: Outcome, *, by: str, until: float | None) -> bool:
        """Let this call hold a claim without an outcome until a time; None for no limit.

        Raises:
            Unavailable: It could not be stored.
        """
        values = (by, until, *_ours(claim))

        def hold(transaction: Transaction) -> bool:
            return transaction.quick(_HOLD, values).rowcount > 0

        return await self._database.run(hold, atomic=True)

    async def settle(self, claim: Outcome, result: ToolResult) -> None:
        """Store the outcome of a claim; it changes nothing once another call holds the key.

        Raises:
            Unavailable: It could not be stored.
        """
        values = (dump_result(result), *_ours(claim))

        def settle(transaction: Transaction) -> None:
            transaction.quick(_SETTLE, values)

        await self._database.run(settle, atomic=True)

    async def release(self, claim: Outcome) -> None:
        """Release a claimed key whose call did nothing; settled keys and those of other calls stay.

        Raises:
            Unavailable: It could not be stored.
        """
        values = _ours(claim)

        def release(transaction: Transaction) -> None:
            transaction.quick(_RELEASE, values)

        await self._database.run(release, atomic=True)


def _ours(claim: Outcome) -> tuple[str, str, str]:
    """The condition for a claim that its call still holds."""
    return clean_text(claim.owner), clean_text(claim.key), claim.holder


def sweep_outcomes(transaction: Transaction, created_before: float) -> None:
    """Delete keys claimed before this time."""
    transaction.execute(delete(TABLE).where(TABLE.c.created_at <= created_before))
