"""Trust: whether the run of a call has read untrusted text, and that it does with this result."""

from collections.abc import Coroutine
from typing import Any

from msgspec import structs

from pegboard.core.ports.taint_store import Taint
from pegboard.core.result import ToolResult
from pegboard.errors import PegboardError
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment


def trust(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """For tools whose results are not trusted, and for those that the policy holds back then.

    A call outside any run has no taint and leaves none.
    """
    spec, policy, ledger = target.spec, environment.policy, environment.trust
    taints = not ledger.trusts(spec)
    by_rule, by_default = policy.looks_at_run(spec), policy.holds_untrusted(spec)
    if not (taints or by_rule or by_default):
        return following

    async def guard(call: CallState) -> ToolResult:
        ctx = call.ctx
        if by_rule or (by_default and ctx.principal.user):
            call.taint = await ledger.find(ctx)
        if not taints:
            return await following(call)
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

    def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
        if taints or call.ctx.run_id or call.ctx.root_id:
            return guard(call)
        return following(call)

    return handle
