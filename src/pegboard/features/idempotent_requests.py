"""Doing something once for each idempotency key, outside the path of a call."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from pegboard.core.event import digest_of
from pegboard.core.ports.call_stores import Outcome
from pegboard.core.principal import Principal
from pegboard.core.result import ToolResult
from pegboard.errors import IdempotencyConflict, Unavailable
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.idempotency.claims import (
    KeyClaim,
    acquire_local_key,
    claim_or_first_outcome,
    release_key,
    store_outcome,
)
from pegboard.execution.idempotency.key_lease import KeyLease
from pegboard.execution.in_flight_calls import InFlightCall
from pegboard.execution.pipeline import new_call_id

Answer = Mapping[str, Any]
_MAX_WAIT = 60.0
"""Longer than a server that is gone keeps its keys, and not much longer than clients wait."""

_AT_ONCE = 0.5
"""Seconds in which a store that is well has given a key."""


class IdempotentRequests:
    """Gives the first answer again when a key comes back with the same request.

    Who comes while the first one is still being answered, here or on another server, waits for that
    answer, as a call does.

    Args:
        kit: Whose outcomes, clocks and lease of keys are used.
        longest_wait: For the first answer, in seconds.
    """

    def __init__(self, kit: CallEnvironment, *, longest_wait: float = _MAX_WAIT) -> None:
        self._kit = kit
        self._longest_wait = longest_wait

    async def do(
        self,
        work: Callable[[], Awaitable[Answer]],
        *,
        what: str,
        key: str,
        request: Any,
        principal: Principal,
        may_repeat: bool,
    ) -> Answer:
        """Do it, or give the first answer; without a key it is done each time.

        Args:
            work: What is to be done; nothing is kept of it when it fails, and the key is free.
            what: Names the kind of work, so that each has keys of its own.
            key: The idempotency key; empty for none.
            request: What was asked, as JSON-compatible data.
            principal: Who asks; each caller has keys of its own.
            may_repeat: Whether it is done anew when the first was cut off, as with its server, so
                that nobody knows how it ended: only where doing it twice harms nothing.

        Raises:
            IdempotencyConflict: The key stands for another request, or nobody knows how the first
                one ended.
            Unavailable: The first one did not end in time.
        """
        if not key:
            return await work()
        kit = self._kit
        claim = Outcome(
            key=f"{what}:{key}",
            owner=principal.owner,
            tool=what,
            digest=digest_of(request),
            created_at=kit.now(),
        )
        key_claim = KeyClaim(
            claim=claim,
            by=new_call_id(),
            key=key,
            deadline=kit.monotonic() + self._longest_wait,
            may_repeat=may_repeat,
            noun="request",
            late=Unavailable,
        )
        flight = await acquire_local_key(kit, key_claim)
        try:
            first = await claim_or_first_outcome(kit, flight, key_claim)
            if first is None:
                with KeyLease(kit, flight.claim):
                    return await self._run_once(work, flight, key_claim)
        finally:
            kit.flights.end(flight)
        return cast("Answer", (first.result or _unknown(key_claim)).unwrap())

    async def at_once(
        self,
        work: Callable[[], Awaitable[Answer]],
        *,
        what: str,
        key: str,
        request: Any,
        principal: Principal,
    ) -> Answer:
        """The same of what nothing may hold up, and what harms nobody when it is done twice.

        It is done without the key where that cannot be had at once.

        Raises:
            IdempotencyConflict: The key stands for another request.
        """
        has_begun = False

        async def begin() -> Answer:
            nonlocal has_begun
            has_begun = True
            return await work()

        given = self.do(
            begin, what=what, key=key, request=request, principal=principal, may_repeat=True
        )
        asking = asyncio.create_task(given)
        try:
            await asyncio.wait([asking], timeout=_AT_ONCE)
            if has_begun or (asking.done() and not isinstance(asking.exception(), Unavailable)):
                return await asking
        finally:
            asking.cancel()  # what it was given by then, it gives back
        return await work()

    async def _run_once(
        self, work: Callable[[], Awaitable[Answer]], flight: InFlightCall, key_claim: KeyClaim
    ) -> Answer:
        try:
            answer = await work()
        except BaseException as error:
            if key_claim.may_repeat or not _is_cut_off(error):
                await release_key(self._kit, flight)
            else:
                await self._store_result(flight, _unknown(key_claim))
            raise
        await self._store_result(flight, ToolResult(structured=dict(answer)))
        return answer

    async def _store_result(self, flight: InFlightCall, result: ToolResult) -> None:
        await store_outcome(flight, self._kit.outcomes.settle(flight.claim, result))


def _is_cut_off(error: BaseException) -> bool:
    """Whether it may have taken effect all the same."""
    if isinstance(error, Unavailable):
        return not error.nothing_done
    return isinstance(error, asyncio.CancelledError)


def _unknown(key_claim: KeyClaim) -> ToolResult:
    """What is told of a first request that was cut off midway."""
    error = IdempotencyConflict(
        f"The first request with the idempotency key '{key_claim.key}' did not finish: whether it "
        "took effect is unknown. Check before you repeat it under another key."
    )
    return ToolResult(is_error=True, error=error)
