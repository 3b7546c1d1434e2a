"""Idempotency: the same key, caller and arguments give the first outcome again.

A key is free again only after a call that surely did nothing, or one that may be repeated. What was
cut off midway is settled as an unknown outcome: it is shown, and never silently run again. Who
comes while the first call runs, here or on another server, waits for its outcome; a claim whose
call runs nowhere, as after a crash, is an unknown outcome too.
"""

import asyncio

from pegboard.core.ports.call_stores import Outcome
from pegboard.core.result import ToolResult
from pegboard.core.tool import ToolSpec
from pegboard.errors import CallerError, PegboardError, ToolFailed, Unavailable
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.errors_for_readers import failed_result, translated
from pegboard.execution.idempotency.claims import (
    KeyClaim,
    acquire_local_key,
    claim_or_first_outcome,
    release_key,
    store_outcome,
)
from pegboard.execution.idempotency.fingerprint import fingerprint_of
from pegboard.execution.idempotency.key_lease import KeyLease
from pegboard.execution.in_flight_calls import InFlightCall
from pegboard.execution.retry_rules import did_nothing, is_repeatable


def idempotency(target: CompiledTool, kit: CallEnvironment, following: Handler) -> Handler:
    """There for calls that carry a key."""
    if not target.keyed:
        return following
    outcomes, now, spec = kit.outcomes, kit.now, target.spec
    fingerprint, may_repeat = fingerprint_of(spec), is_repeatable(spec)

    async def handle(call: CallState) -> ToolResult:
        key = call.ctx.idempotency_key or ""
        claim = Outcome(
            key=key, owner=call.owner, tool=spec.name, digest=fingerprint(call), created_at=now()
        )
        wish = KeyClaim(
            claim=claim, by=call.id, key=key, deadline=call.deadline, may_repeat=may_repeat
        )
        flight = await acquire_local_key(kit, wish)
        try:
            first = await claim_or_first_outcome(kit, flight, wish)
            if first is None:
                with KeyLease(kit, flight.claim):
                    return await first_call(call, flight)
            call.replayed = True
            return first.result or failed_result(_cut_off(spec.name, "never ended"), kit.redact)
        finally:
            kit.flights.end(flight)

    async def first_call(call: CallState, flight: InFlightCall) -> ToolResult:
        try:
            result = await following(call)
        except asyncio.CancelledError:
            is_free = call.attempts == 0 or may_repeat
            if is_free:
                await release_key(kit, flight)
            else:
                await _failed(kit, flight, _cut_off(spec.name, "was cancelled while it ran"))
            raise
        except Exception as error:  # noqa: BLE001 - whatever broke, the outcome is written down first
            ours = translated(spec.name, error)
            if _is_free_again(spec, call, ours):
                await release_key(kit, flight)
            else:
                ours = await _failed(kit, flight, ours)
            raise ours from ours.__cause__
        await store_outcome(flight, outcomes.settle(flight.claim, result))
        return result

    return handle


async def _failed(
    kit: CallEnvironment, flight: InFlightCall, error: PegboardError
) -> PegboardError:
    """The call has failed, and its error is the outcome: as it is kept, with its error id."""
    failed = failed_result(error, kit.redact)
    await store_outcome(flight, kit.outcomes.settle(flight.claim, failed))
    return failed.error or error


def _is_free_again(spec: ToolSpec, call: CallState, error: PegboardError) -> bool:
    """Whether the key may be used again: the tool never started, did nothing, or may repeat."""
    if call.attempts == 0 or isinstance(error, CallerError) or did_nothing(error):
        return True
    return isinstance(error, Unavailable) and is_repeatable(spec)


def _cut_off(tool: str, how: str) -> PegboardError:
    return ToolFailed(
        f"The first call of '{tool}' with this idempotency key {how}: whether it took effect is "
        "unknown. Look before you call it again under another key."
    )
