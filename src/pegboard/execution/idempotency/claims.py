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
from pegboard.execution.idempotency.key_lease import is_held, leased, taken_over
from pegboard.execution.in_flight_calls import InFlightCall

_LOG = logging.getLogger("pegboard.calls")
_SHORTEST_PAUSE = 0.05
_RETRY_AFTER = 1.0
_LONGEST_WAIT = 2.0
_LONGEST_AWAY = 5.0
"""Seconds between tries to give back a key while the store is away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyClaim:
    """What is to be done under a key, and for how long that may wait for who has it.

    Attributes:
        by: An id of its own: of the call, or of the request.
        key: As its caller gave it.
        deadline: On the kit's monotonic clock; None to wait as long as it takes.
        may_repeat: Whether it is done anew when nobody knows how the first ended, which is gone.
        noun: What it is called in errors.
        late: What is raised when the deadline passes.
    """

    claim: Outcome
    by: str
    key: str
    deadline: float | None
    may_repeat: bool
    noun: str = "call"
    late: type[Unavailable] = ToolTimeout


async def acquire_local_key(kit: CallEnvironment, wish: KeyClaim) -> InFlightCall:
    """The wish's own flight, which the caller ends; who has the key here is waited for.

    Raises:
        IdempotencyConflict: The key stands for something else.
        StoreUnavailable: Nothing was done under the key, and it cannot be given back now.
        Unavailable: The other one did not end in time; as `wish.late`.
    """
    while True:
        flight, is_own = kit.flights.begin(wish.claim)
        if is_own:
            return flight
        if flight.is_given_up:  # nothing was done: the key may stand for something else by now
            await _let_go(kit, flight, wish)
            continue
        _check_same(wish, flight.claim)
        if not await flight.landed(_left(kit, wish)) and not flight.is_given_up:
            raise _too_late(wish)


async def claim_or_first_outcome(
    kit: CallEnvironment, flight: InFlightCall, wish: KeyClaim
) -> Outcome | None:
    """Claim the key in the store; None once this one has it and is to be done now.

    Otherwise the first one's claim. Without a result it is one whose server is gone: its outcome
    is unknown.

    Raises:
        IdempotencyConflict: The key stands for something else.
        IdempotencyInProgress: Another server is working under this key.
    """
    flight.claim = leased(kit, flight.claim, wish.by)
    first = await _claimed(kit.outcomes, flight)
    if first is None:
        return None
    _check_same(wish, first)
    if first.result is not None:
        return first
    if is_held(kit, first):
        raise _in_progress(wish)
    if not wish.may_repeat:
        return first
    if await taken_over(kit, first, flight.claim):
        return None
    raise _in_progress(wish)  # another server took it over first


async def release_key(kit: CallEnvironment, flight: InFlightCall) -> None:
    """The key may be used again: now, or once the store is back, if this process lives so long.

    Until then who comes with the same key is told to come later, and not of an unknown outcome.
    """
    await _given_up(flight, lambda: kit.outcomes.release(flight.claim))


async def store_outcome(flight: InFlightCall, work: Coroutine[Any, Any, None]) -> None:
    """Write down how it ended, cancelled or not; it has ended, whatever the store says."""
    flight.writing = asyncio.ensure_future(work)
    try:
        await asyncio.shield(flight.writing)
    except PegboardError:
        _LOG.exception("the outcome of an idempotency key was not stored and stays unknown")


async def _claimed(outcomes: OutcomeStore, flight: InFlightCall) -> Outcome | None:
    """Claim the key; who is cancelled meanwhile gives back what they were given."""
    claiming = asyncio.ensure_future(outcomes.claim(flight.claim))
    try:
        return await asyncio.shield(claiming)
    except asyncio.CancelledError:
        await _given_up(flight, lambda: _given_back(outcomes, flight.claim, claiming))
        raise


async def _given_back(
    outcomes: OutcomeStore, claim: Outcome, claiming: "asyncio.Future[Outcome | None]"
) -> None:
    await asyncio.wait([claiming])
    if claiming.exception() is None and claiming.result() is None:
        await outcomes.release(claim)


async def _given_up(flight: InFlightCall, release: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Return once it was tried; what failed for now goes on in the background."""
    tried = asyncio.Event()

    async def until_done() -> None:
        pause = _SHORTEST_PAUSE
        while not await _is_released(release, tried):
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_AWAY)

    flight.is_given_up = True
    flight.writing = asyncio.create_task(until_done(), name="give back an idempotency key")
    await tried.wait()


async def _is_released(
    release: Callable[[], Coroutine[Any, Any, None]], tried: asyncio.Event
) -> bool:
    """Whether it need not be tried again."""
    try:
        with log_and_continue(_LOG, "an idempotency key could not be given back"):
            try:
                await release()
            except PegboardError as error:
                is_over = isinstance(error, Unavailable) and not error.retryable
                level = logging.DEBUG if tried.is_set() and not is_over else logging.WARNING
                _LOG.log(level, "an idempotency key could not be given back: %s", error)
                return is_over
            return True
    finally:
        tried.set()
    return False


async def _let_go(kit: CallEnvironment, flight: InFlightCall, wish: KeyClaim) -> None:
    """Wait a moment until the key of one that did nothing is free."""
    left = _left(kit, wish)
    if not await flight.landed(_LONGEST_WAIT if left is None else min(left, _LONGEST_WAIT)):
        raise StoreUnavailable(
            f"The idempotency key '{wish.key}' cannot be used yet: what the board keeps cannot be "
            "written now.",
            retry_after=_LONGEST_AWAY,
            nothing_done=True,
        )


def _left(kit: CallEnvironment, wish: KeyClaim) -> float | None:
    return None if wish.deadline is None else max(0.0, wish.deadline - kit.monotonic())


def _check_same(wish: KeyClaim, first: Outcome) -> None:
    if first.tool != wish.claim.tool or first.digest != wish.claim.digest:
        raise IdempotencyConflict(
            f"The idempotency key '{wish.key}' was used for another {wish.noun}; take a new key."
        )


def _in_progress(wish: KeyClaim) -> IdempotencyInProgress:
    return IdempotencyInProgress(
        f"A {wish.noun} with the idempotency key '{wish.key}' is in progress on another server.",
        retry_after=_RETRY_AFTER,
        nothing_done=True,
    )


def _too_late(wish: KeyClaim) -> Unavailable:
    return wish.late(
        f"The first {wish.noun} with the idempotency key '{wish.key}' did not end within this "
        f"{wish.noun}'s time.",
        retry_after=_RETRY_AFTER,
        nothing_done=True,
    )
