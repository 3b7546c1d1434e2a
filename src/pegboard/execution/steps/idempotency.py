"""Idempotency: the same key, caller and arguments give the first outcome again.

A key is free again only after a call that surely did nothing, or one that may be repeated. What was
cut off midway is settled as an unknown outcome: it is shown, and never silently run again.
"""

import asyncio
import logging
from collections.abc import Awaitable

from pegboard.core.ports.store import Outcome, OutcomeStore
from pegboard.core.result import ToolResult
from pegboard.core.tool import ToolSpec
from pegboard.errors import (
    CallerError,
    IdempotencyConflict,
    PegboardError,
    ToolFailed,
    Unavailable,
)
from pegboard.execution.call import Handler, Run
from pegboard.execution.failures import failed_result, translated
from pegboard.execution.fingerprint import fingerprint_of
from pegboard.execution.kit import Kit
from pegboard.execution.repeating import did_nothing, is_repeatable
from pegboard.execution.target import Target

_LOG = logging.getLogger("pegboard.calls")


def idempotency(target: Target, kit: Kit, following: Handler) -> Handler:
    """There for calls that carry a key."""
    if not target.keyed:
        return following
    outcomes, now, spec = kit.outcomes, kit.now, target.spec
    fingerprint = fingerprint_of(spec)

    async def handle(call: Run) -> ToolResult:
        claim = Outcome(
            key=call.ctx.idempotency_key or "",
            owner=call.owner,
            tool=spec.name,
            digest=fingerprint(call),
            created_at=now(),
        )
        first = await _claimed(outcomes, claim)
        if first is not None:
            return _again(call, claim, first)
        try:
            result = await following(call)
        except asyncio.CancelledError:
            is_free = call.attempts == 0 or is_repeatable(spec)
            await _end(outcomes, claim, None if is_free else _cut_off(spec.name), kit)
            raise
        except Exception as error:  # noqa: BLE001 - whatever broke, the outcome is written down first
            ours = translated(spec.name, error)
            is_free = _is_free_again(spec, call, ours)
            await _end(outcomes, claim, None if is_free else ours, kit)
            raise ours from ours.__cause__
        await _written(outcomes.settle(claim.owner, claim.key, result))
        return result

    return handle


async def _claimed(outcomes: OutcomeStore, claim: Outcome) -> Outcome | None:
    """Claim the key; who is cancelled meanwhile gives back what they were given."""
    claiming = asyncio.ensure_future(outcomes.claim(claim))
    try:
        return await asyncio.shield(claiming)
    except asyncio.CancelledError:
        await _written(_given_back(outcomes, claim, claiming))
        raise


async def _given_back(
    outcomes: OutcomeStore, claim: Outcome, claiming: "asyncio.Future[Outcome | None]"
) -> None:
    if await claiming is None:
        await outcomes.release(claim.owner, claim.key)


async def _end(
    outcomes: OutcomeStore, claim: Outcome, error: PegboardError | None, kit: Kit
) -> None:
    """The call has failed: its error is the outcome, or the key is free again."""
    if error is None:
        await _written(outcomes.release(claim.owner, claim.key))
    else:
        failed = failed_result(error, kit.redact)
        await _written(outcomes.settle(claim.owner, claim.key, failed))


async def _written(work: Awaitable[None]) -> None:
    """Write down how the call ended, cancelled or not; it has ended, whatever the store says."""
    try:
        await asyncio.shield(work)
    except PegboardError:
        _LOG.exception("the outcome of an idempotency key was not stored and stays unknown")


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


def _is_free_again(spec: ToolSpec, call: Run, error: PegboardError) -> bool:
    """Whether the key may be used again: the tool never started, did nothing, or may repeat."""
    if call.attempts == 0 or isinstance(error, CallerError) or did_nothing(error):
        return True
    return isinstance(error, Unavailable) and is_repeatable(spec)


def _cut_off(tool: str) -> PegboardError:
    return ToolFailed(
        f"The first call of '{tool}' with this idempotency key was cancelled while it ran: whether "
        "it took effect is unknown. Look before you call it again under another key."
    )
