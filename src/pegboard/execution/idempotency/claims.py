"""Acquire an idempotency key.

A holder in this process is waited for; a key that another server holds is refused at once.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.call_stores import Outcome, OutcomeStore
from pegboard.errors import (
    IdempotencyConflict,
    IdempotencyInProgress,
    PegboardError,
    StoreUnavailable,
    ToolTimeout,
    Unavailable,
)
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.idempotency.key_lease import add_lease, is_held, take_over
from pegboard.execution.in_flight_calls import InFlightCall

_LOG = logging.getLogger("pegboard.calls")
_MIN_PAUSE = 0.05
_RETRY_AFTER = 1.0
_MAX_WAIT = 2.0
_MAX_PAUSE = 5.0
"""Seconds between tries to give back a key while the store is away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyClaim:
    """A request to use an idempotency key.

    Attributes:
        claim: The outcome to store, still without a result.
        holder: The id of the call or request.
        key: The key as its caller gave it.
        deadline: On the environment's monotonic clock; None to wait without a limit.
        may_repeat: Whether the work may be done again when the outcome of the first is unknown.
        noun: What error messages call it.
        timeout_error: Raised when the deadline passes.
    """

    claim: Outcome
    holder: str
    key: str
    deadline: float | None
    may_repeat: bool
    noun: str = "call"
    timeout_error: type[Unavailable] = ToolTimeout


async def acquire_local_key(environment: CallEnvironment, wanted: KeyClaim) -> InFlightCall:
    """Acquire a key within this process, waiting for its current holder; the caller ends it.

    Raises:
        IdempotencyConflict: The key was used for something else.
        StoreUnavailable: The key is being released, which the store does not allow now.
        Unavailable: The holder did not end in time; as `wanted.timeout_error`.
    """
    while True:
        flight, is_own = environment.in_flight_calls.begin(wanted.claim)
        if is_own:
            return flight
        if flight.is_given_up:  # nothing was done, so the key may be used for something else
            await _wait_until_free(environment, flight, wanted)
            continue
        _check_same(wanted, flight.claim)
        if not await flight.wait(_remaining(environment, wanted)) and not flight.is_given_up:
            raise _too_late(wanted)


async def claim_or_first_outcome(
    environment: CallEnvironment, flight: InFlightCall, wanted: KeyClaim
) -> Outcome | None:
    """Claim a key in the store; None when it is claimed and the work is to be done now.

    Otherwise returns the first claim: with its result, or without one when its server is gone and
    the outcome is unknown.

    Raises:
        IdempotencyConflict: The key was used for something else.
        IdempotencyInProgress: Another server holds the key.
    """
    flight.claim = add_lease(environment, flight.claim, wanted.holder)
    first = await _claim(environment.outcomes, flight)
    if first is None:
        return None
    _check_same(wanted, first)
    if first.result is not None:
        return first
    if is_held(environment, first):
        raise _in_progress(wanted)
    if not wanted.may_repeat:
        return first
    if await take_over(environment, first, flight.claim):
        return None
    raise _in_progress(wanted)  # another server took it over first


async def release_key(environment: CallEnvironment, flight: InFlightCall) -> None:
    """Release a key: now, or in the background once the store is available again.

    Until then the same key is refused with `StoreUnavailable`, and not with an unknown outcome.
    """
    await _give_up(flight, lambda: environment.outcomes.release(flight.claim))


async def store_outcome(flight: InFlightCall, work: Coroutine[Any, Any, None]) -> None:
    """Store the outcome, even if the call is cancelled; a failing store is logged."""
    flight.writing = asyncio.ensure_future(work)
    try:
        await asyncio.shield(flight.writing)
    except PegboardError:
        _LOG.exception("idempotency: outcome not stored, it stays unknown")


async def _claim(outcomes: OutcomeStore, flight: InFlightCall) -> Outcome | None:
    """Claim the key; a cancelled call releases what it was given."""
    claiming = asyncio.ensure_future(outcomes.claim(flight.claim))
    try:
        return await asyncio.shield(claiming)
    except asyncio.CancelledError:
        await _give_up(flight, lambda: _give_back(outcomes, flight.claim, claiming))
        raise


async def _give_back(
    outcomes: OutcomeStore, claim: Outcome, claiming: "asyncio.Future[Outcome | None]"
) -> None:
    await asyncio.wait([claiming])
    if claiming.exception() is None and claiming.result() is None:
        await outcomes.release(claim)


async def _give_up(flight: InFlightCall, release: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Return after the first try; further tries go on in the background."""
    tried = asyncio.Event()

    async def until_done() -> None:
        pause = _MIN_PAUSE
        while not await _is_released(release, tried):
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE)

    flight.is_given_up = True
    flight.writing = asyncio.create_task(until_done(), name="release an idempotency key")
    await tried.wait()


async def _is_released(
    release: Callable[[], Coroutine[Any, Any, None]], tried: asyncio.Event
) -> bool:
    """Whether no further try is needed."""
    try:
        with log_and_continue(_LOG, "idempotency: key not released"):
            try:
                await release()
            except PegboardError as error:
                is_over = isinstance(error, Unavailable) and not error.retryable
                level = logging.DEBUG if tried.is_set() and not is_over else logging.WARNING
                _LOG.log(level, "idempotency: key not released: %s", error)
                return is_over
            return True
    finally:
        tried.set()
    return False


async def _wait_until_free(
    environment: CallEnvironment, flight: InFlightCall, wanted: KeyClaim
) -> None:
    """Wait briefly until the key of a call that did nothing is released."""
    left = _remaining(environment, wanted)
    if not await flight.wait(_MAX_WAIT if left is None else min(left, _MAX_WAIT)):
        raise StoreUnavailable(
            f"The idempotency key '{wanted.key}' cannot be used yet: the store cannot be written "
            "now.",
            retry_after=_MAX_PAUSE,
            nothing_done=True,
        )


def _remaining(environment: CallEnvironment, wanted: KeyClaim) -> float | None:
    return None if wanted.deadline is None else max(0.0, wanted.deadline - environment.monotonic())


def _check_same(wanted: KeyClaim, first: Outcome) -> None:
    if first.tool != wanted.claim.tool or first.digest != wanted.claim.digest:
        raise IdempotencyConflict(
            f"The idempotency key '{wanted.key}' was used for another {wanted.noun}; "
            "take a new key."
        )


def _in_progress(wanted: KeyClaim) -> IdempotencyInProgress:
    return IdempotencyInProgress(
        f"A {wanted.noun} with the idempotency key '{wanted.key}' is in progress on another "
        "server.",
        retry_after=_RETRY_AFTER,
        nothing_done=True,
    )


def _too_late(wanted: KeyClaim) -> Unavailable:
    return wanted.timeout_error(
        f"The first {wanted.noun} with the idempotency key '{wanted.key}' did not end within this "
        f"{wanted.noun}'s time.",
        retry_after=_RETRY_AFTER,
        nothing_done=True,
    )
