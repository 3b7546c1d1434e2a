"""Idempotency: the same key, caller and arguments give the first outcome again.

A key is free again only after a call that surely did nothing, or one that may be repeated. What was
cut off midway is settled as an unknown outcome: it is shown, and never silently run again. Who
comes while the first call runs, here or on another server, waits for its outcome; a claim whose
call runs nowhere, as after a crash, is an unknown outcome too.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from pegboard.core.ports.store import Outcome, OutcomeStore
from pegboard.core.result import ToolResult
from pegboard.core.tool import ToolSpec
from pegboard.errors import (
    CallerError,
    IdempotencyConflict,
    PegboardError,
    ToolFailed,
    ToolTimeout,
    Unavailable,
)
from pegboard.execution.call import Handler, Run
from pegboard.execution.failures import failed_result, translated
from pegboard.execution.fingerprint import fingerprint_of
from pegboard.execution.flights import Flight
from pegboard.execution.holding import Holding, is_held, leased, taken_over
from pegboard.execution.kit import Kit
from pegboard.execution.repeating import did_nothing, is_repeatable
from pegboard.execution.target import Target

_LOG = logging.getLogger("pegboard.calls")
_SHORTEST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0


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
        flight = await _turn(kit, claim, call)
        try:
            first = await _first(kit, flight, call, spec)
            if first is None:
                with Holding(kit, flight.claim):
                    return await first_call(call, flight)
            call.replayed = True
            return first.result or failed_result(_cut_off(spec.name, "never ended"), kit.redact)
        finally:
            kit.flights.end(flight)

    async def first_call(call: Run, flight: Flight) -> ToolResult:
        try:
            result = await following(call)
        except asyncio.CancelledError:
            is_free = call.attempts == 0 or is_repeatable(spec)
            if is_free:
                await _freed(outcomes, flight)
            else:
                await _failed(kit, flight, _cut_off(spec.name, "was cancelled while it ran"))
            raise
        except Exception as error:  # noqa: BLE001 - whatever broke, the outcome is written down first
            ours = translated(spec.name, error)
            if _is_free_again(spec, call, ours):
                await _freed(outcomes, flight)
            else:
                ours = await _failed(kit, flight, ours)
            raise ours from ours.__cause__
        await _written(flight, outcomes.settle(flight.claim.owner, flight.claim.key, result))
        return result

    return handle


async def _turn(kit: Kit, claim: Outcome, call: Run) -> Flight:
    """This call's own flight; who has the key meanwhile is waited for, as long as there is time."""
    while True:
        flight, is_own = kit.flights.begin(claim)
        if is_own:
            return flight
        _check_same(claim, flight.claim)
        if not await flight.landed(_left(kit, call)):
            raise _too_late(claim)


async def _first(kit: Kit, flight: Flight, call: Run, spec: ToolSpec) -> Outcome | None:
    """The first call's claim, once that is over or gone; None when this call is to run now.

    Whoever has the key in another process is asked after, more and more rarely.
    """
    pause = _SHORTEST_PAUSE
    while True:
        flight.claim = leased(kit, flight.claim, call.id)
        first = await _claimed(kit.outcomes, flight)
        if first is None:
            return None
        _check_same(flight.claim, first)
        if first.result is not None:
            return first
        if not is_held(kit, first):
            if not is_repeatable(spec):
                return first
            if await taken_over(kit, first, flight.claim):
                return None
        left = _left(kit, call)
        if left is not None and left <= 0:
            raise _too_late(flight.claim)
        await asyncio.sleep(pause if left is None else min(pause, left))
        pause = min(2 * pause, _LONGEST_PAUSE)


def _left(kit: Kit, call: Run) -> float | None:
    return None if call.deadline is None else max(0.0, call.deadline - kit.monotonic())


def _too_late(claim: Outcome) -> ToolTimeout:
    return ToolTimeout(
        f"The first call with the idempotency key '{claim.key}' did not end within this call's "
        "time.",
        retry_after=1.0,
        nothing_done=True,
    )


async def _claimed(outcomes: OutcomeStore, flight: Flight) -> Outcome | None:
    """Claim the key; who is cancelled meanwhile gives back what they were given."""
    claiming = asyncio.ensure_future(outcomes.claim(flight.claim))
    try:
        return await asyncio.shield(claiming)
    except asyncio.CancelledError:
        await _written(flight, _given_back(outcomes, flight.claim, claiming))
        raise


async def _given_back(
    outcomes: OutcomeStore, claim: Outcome, claiming: "asyncio.Future[Outcome | None]"
) -> None:
    if await claiming is None:
        await outcomes.release(claim.owner, claim.key)


async def _freed(outcomes: OutcomeStore, flight: Flight) -> None:
    """The key may be used again."""
    await _written(flight, outcomes.release(flight.claim.owner, flight.claim.key))


async def _failed(kit: Kit, flight: Flight, error: PegboardError) -> PegboardError:
    """The call has failed, and its error is the outcome: as it is kept, with its error id."""
    claim = flight.claim
    failed = failed_result(error, kit.redact)
    await _written(flight, kit.outcomes.settle(claim.owner, claim.key, failed))
    return failed.error or error


async def _written(flight: Flight, work: Coroutine[Any, Any, None]) -> None:
    """Write down how the call ended, cancelled or not; it has ended, whatever the store says."""
    flight.writing = asyncio.ensure_future(work)
    try:
        await asyncio.shield(flight.writing)
    except PegboardError:
        _LOG.exception("the outcome of an idempotency key was not stored and stays unknown")


def _check_same(claim: Outcome, first: Outcome) -> None:
    if first.tool != claim.tool or first.digest != claim.digest:
        raise IdempotencyConflict(
            f"The idempotency key '{claim.key}' was used for another call; take a new key."
        )


def _is_free_again(spec: ToolSpec, call: Run, error: PegboardError) -> bool:
    """Whether the key may be used again: the tool never started, did nothing, or may repeat."""
    if call.attempts == 0 or isinstance(error, CallerError) or did_nothing(error):
        return True
    return isinstance(error, Unavailable) and is_repeatable(spec)


def _cut_off(tool: str, how: str) -> PegboardError:
    return ToolFailed(
        f"The first call of '{tool}' with this idempotency key {how}: whether it took effect is "
        "unknown. Look before you call it again under another key."
    )
