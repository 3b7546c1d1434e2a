"""Runs a request once for each idempotency key; for requests that are not tool calls."""

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
"""Seconds to wait for the first answer: not much longer than clients wait."""

_AT_ONCE = 0.5
"""Seconds within which a healthy store acquires a key."""


class IdempotentRequests:
    """Returns the first answer again when a key is repeated with the same request.

    A repeated request waits for the first one on the same server, as a call does. A key that
    another server is still working under is refused with `IdempotencyInProgress`.

    Args:
        kit: Its outcomes, clocks and key leases are used.
        longest_wait: How long to wait for the first answer, in seconds.
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
        """Do the work, or return the first answer; without a key the work is always done.

        Args:
            work: The work. If it fails, nothing is stored and the key is free again.
            what: Kind of work; each kind has its own keys.
            key: The idempotency key; empty for none.
            request: The request as JSON-compatible data.
            principal: The caller; each caller has its own keys.
            may_repeat: Whether the work is repeated if the first attempt was interrupted, for
                example by a crash, so that its outcome is unknown. Only for work that is safe to
                repeat.

        Raises:
            IdempotencyConflict: The key was used for another request, or the outcome of the first
                one is unknown.
            IdempotencyInProgress: Another server is working under this key.
            Unavailable: The first request did not finish in time.
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
            holder=new_call_id(),
            key=key,
            deadline=kit.monotonic() + self._longest_wait,
            may_repeat=may_repeat,
            noun="request",
            timeout_error=Unavailable,
        )
        flight = await acquire_local_key(kit, key_claim)
        try:
            first = await claim_or_first_outcome(kit, flight, key_claim)
            if first is None:
                with KeyLease(kit, flight.claim):
                    return await self._run_once(work, flight, key_claim)
        finally:
            kit.in_flight_calls.end(flight)
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
        """As `do`, for work that must not be delayed and is safe to repeat.

        The work is done without the key if that cannot be acquired at once.

        Raises:
            IdempotencyConflict: The key was used for another request.
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
            asking.cancel()  # releases the key if it has acquired it
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
    """Whether the work may have taken effect although it failed."""
    if isinstance(error, Unavailable):
        return not error.nothing_done
    return isinstance(error, asyncio.CancelledError)


def _unknown(key_claim: KeyClaim) -> ToolResult:
    """The answer when the first request was interrupted."""
    error = IdempotencyConflict(
        f"The first request with the idempotency key '{key_claim.key}' did not finish: whether it "
        "took effect is unknown. Check before you repeat it under another key."
    )
    return ToolResult(is_error=True, error=error)
