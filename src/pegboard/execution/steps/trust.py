"""Trust: whether the run of a call has read untrusted text, and that it does with this result."""

from collections.abc import Coroutine
from contextlib import suppress
from itertools import islice
from typing import Any

from msgspec import structs

from pegboard.access.result_values import (
    ResultValues,
    collect_values,
    find_entry,
    list_values,
    normalize,
)
from pegboard.core.ports.taint_store import Taint
from pegboard.core.result import ToolResult
from pegboard.core.skill import SKILLS
from pegboard.core.tool import Effect, ToolSpec
from pegboard.errors import PegboardError, Unavailable
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.trust_ledger import TrustLedger

_MAX_VALUES = 2_000
_MAX_TEXT = 20_000


def trust(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """For tools whose results are not trusted, and for those that the policy holds back then.

    Where the policy asks whether the caller has named what a write acts on, other tools have it
    too, since arguments may come from their results. A call outside any run has no taint and leaves
    none.
    """
    spec, policy, ledger = target.spec, environment.policy, environment.trust
    taints = not ledger.trusts(spec)
    by_rule, by_default = policy.looks_at_run(spec), policy.holds_untrusted(spec)
    traces = policy.traces_arguments
    if not (taints or by_rule or by_default or traces):
        return following
    if taints:
        following = _mark(spec, environment, following)

    async def guard(call: CallState) -> ToolResult:
        ctx = call.ctx
        if by_rule or (by_default and ctx.principal.user):
            call.taint = await ledger.find(ctx)
        if not (traces and ctx.principal.user):
            return await following(call)
        if by_default:
            result = await _write(call, spec, ledger, following)
        else:
            result = await following(call)
        if not result.is_error:
            values = _read_values(call, spec, result, is_trusted=not taints, is_held=by_default)
            with suppress(Unavailable):  # what is not remembered leads to more questions
                await ledger.remember(ctx, values)
        return result

    def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
        if call.ctx.run_id or call.ctx.root_id:
            return guard(call)
        return following(call)

    return handle


async def _write(
    call: CallState, spec: ToolSpec, ledger: TrustLedger, following: Handler
) -> ToolResult:
    """Call a tool that the policy holds back, with the origins of its arguments."""
    ctx, is_made = call.ctx, False
    write = await ledger.note_write(ctx, spec, call.arguments, call_id=call.id)
    try:
        if call.taint is not None:
            call.origins = await ledger.trace(ctx, spec, call.arguments, write=write)
        result = await following(call)
        is_made = not result.is_error
    finally:
        if not is_made:
            await ledger.forget_write(write)
    return result


def _mark(spec: ToolSpec, environment: CallEnvironment, following: Handler) -> Handler:
    """Note that the run reads untrusted text with this result, before it is returned."""
    ledger = environment.trust
    is_skill, index = spec.handler == SKILLS, environment.resource_index

    async def handle(call: CallState) -> ToolResult:
        ctx = call.ctx
        if is_skill and index.is_vouched_for(ctx.principal, spec.source):
            return await following(call)  # the words of the caller, or of an operator
        taint = Taint(call_id=call.id, tool=spec.name, source=spec.source, at=environment.now())
        try:
            result = await following(call)
        except PegboardError:
            if call.attempts:  # the text of an error is text too
                call.untrusted = True
                await ledger.add(ctx, taint)
            raise
        call.untrusted = True
        await ledger.add(ctx, taint)
        return structs.replace(result, meta=structs.replace(result.meta, untrusted=True))

    return handle


def _read_values(
    call: CallState, spec: ToolSpec, result: ToolResult, *, is_trusted: bool, is_held: bool
) -> ResultValues:
    """What a result contains, without what the call itself has brought in."""
    given = frozenset(islice(list_values(call.arguments), _MAX_VALUES))
    data = None if isinstance(result.structured, str) else result.structured  # a text is no value
    asked_with = given if spec.effect is Effect.READ else frozenset[str]()
    return ResultValues(
        call_id=call.id,
        tool=spec.name,
        source=spec.source,
        values=collect_values(data) - given,
        text="" if is_trusted else normalize(result.text[:_MAX_TEXT]),
        asked_with=asked_with,
        entry=find_entry(data, asked_with) if is_trusted else frozenset(),
        is_trusted=is_trusted,
        is_write=is_held,
        is_unasked=spec.effect is not Effect.READ and not is_held,
    )
