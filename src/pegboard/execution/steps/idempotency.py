"""Idempotency: the same key, caller and arguments give the first outcome again."""

import asyncio

from pegboard.core.event import digest_of
from pegboard.core.ports.store import Outcome
from pegboard.core.result import ToolResult
from pegboard.errors import CallerError, IdempotencyConflict, PegboardError, Unavailable
from pegboard.execution.call import Handler, Run
from pegboard.execution.failures import failed_result
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def idempotency(target: Target, kit: Kit, following: Handler) -> Handler:
    """There for calls that carry a key."""
    if not target.keyed:
        return following
    outcomes, now, name = kit.outcomes, kit.now, target.spec.name

    async def handle(call: Run) -> ToolResult:
        key = call.ctx.idempotency_key or ""
        claim = Outcome(
            key=key,
            owner=call.owner,
            tool=name,
            digest=digest_of(call.raw),
            created_at=now(),
        )
        first = await outcomes.claim(claim)
        if first is not None:
            return _again(call, claim, first)
        try:
            result = await following(call)
        except PegboardError as error:
            if _nothing_done(call, error):
                await asyncio.shield(outcomes.release(call.owner, key))
            else:
                await asyncio.shield(outcomes.settle(call.owner, key, failed_result(error)))
            raise
        await asyncio.shield(outcomes.settle(call.owner, key, result))
        return result

    return handle


def _again(call: Run, claim: Outcome, first: Outcome) -> ToolResult:
    if first.tool != claim.tool or first.digest != claim.digest:
        raise IdempotencyConflict(
            f"The idempotency key '{claim.key}' was used for another call; take a new key."
        )
    if first.result is None:
        raise Unavailable(
            f"The first call with the idempotency key '{claim.key}' has not ended, or its outcome "
            "is unknown.",
            retry_after=1.0,
            nothing_done=True,
        )
    call.replayed = True
    return first.result


def _nothing_done(call: Run, error: PegboardError) -> bool:
    """Whether the key may be used again: the tool never started, or said so itself."""
    if call.attempts == 0 or isinstance(error, CallerError):
        return True
    return isinstance(error, Unavailable) and error.nothing_done
