"""Idempotency: the same key, caller and arguments give the first outcome again.

A key is free again only after a call that did nothing, or one that may be repeated. A call that was
cut off has an unknown outcome, which is returned and never run again silently; so has a claim whose
server is gone. The same key waits on the same server, and is refused on another one.
"""

import asyncio

from pegboard.core.ports.call_stores import Outcome
from pegboard.core.result import ToolResult
from pegboard.core.tool import ToolSpec
from pegboard.errors import CallerError, IdempotencyConflict, PegboardError, Unavailable
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.errors_for_readers import make_failed_result, translate_error
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


def idempotency(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """For calls with an idempotency key."""
    if not target.keyed:
        return following
    outcomes, now, spec = environment.outcomes, environment.now, target.spec
    fingerprint, may_repeat = fingerprint_of(spec), is_repeatable(spec)

    async def handle(call: CallState) -> ToolResult:
        key = call.ctx.idempotency_key or ""
        claim = Outcome(
            key=key, owner=call.owner, tool=spec.name, digest=fingerprint(call), created_at=now()
        )
        wanted = KeyClaim(
            claim=claim, holder=call.id, key=key, deadline=call.deadline, may_repeat=may_repeat
        )
        flight = await acquire_local_key(environment, wanted)
        try:
            first = await claim_or_first_outcome(environment, flight, wanted)
            if first is None:
                with KeyLease(environment, flight.claim):
                    return await first_call(call, flight)
            call.replayed = True
            return first.result or make_failed_result(
                _cut_off_error(spec.name, "never ended"), environment.redact
            )
        finally:
            environment.in_flight_calls.end(flight)

    async def first_call(call: CallState, flight: InFlightCall) -> ToolResult:
        try:
            result = await following(call)
        except asyncio.CancelledError:
            is_free = call.attempts == 0 or may_repeat
            if is_free:
                await release_key(environment, flight)
            else:
                await _settle_failure(
                    environment, flight, _cut_off_error(spec.name, "was cancelled while it ran")
                )
            raise
        except Exception as error:  # noqa: BLE001 - the outcome is stored before any error goes on
            ours = translate_error(spec.name, error)
            if _is_free_again(spec, call, ours):
                await release_key(environment, flight)
            else:
                ours = await _settle_failure(environment, flight, ours)
            raise ours from ours.__cause__
        await store_outcome(flight, outcomes.settle(flight.claim, result))
        return result

    return handle


async def _settle_failure(
    environment: CallEnvironment, flight: InFlightCall, error: PegboardError
) -> PegboardError:
    """Store the error as the outcome; the error as stored, with its error id."""
    failed = make_failed_result(error, environment.redact)
    await store_outcome(flight, environment.outcomes.settle(flight.claim, failed))
    return failed.error or error


def _is_free_again(spec: ToolSpec, call: CallState, error: PegboardError) -> bool:
    """Whether the key may be used again: nothing was done, or it may be repeated."""
    if call.attempts == 0 or isinstance(error, CallerError) or did_nothing(error):
        return True
    return isinstance(error, Unavailable) and is_repeatable(spec)


def _cut_off_error(tool: str, how: str) -> IdempotencyConflict:
    return IdempotencyConflict(
        f"The first call of '{tool}' with this idempotency key {how}: whether it took effect is "
        "unknown. Look before you call it again under another key."
    )
