"""Start: the start of a write is stored before it runs, so that a crash leaves a trace.

Where the audit trail is required, every audited call is stored there first too.
"""

from pegboard.core.decision import Verdict
from pegboard.core.event import CallStarted, digest_of
from pegboard.core.result import ToolResult
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment


def start(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """For tools whose starts the journal wants: at least those that may change something."""
    spec, journal = target.spec, environment.journal
    policy = environment.policy
    decision = Verdict.ASK if policy.may_ask(spec) else policy.decide(spec).verdict
    if journal is None or not journal.wants(
        effect=spec.effect, decision=decision, handler=spec.handler
    ):
        return following

    async def handle(call: CallState) -> ToolResult:
        ctx = call.ctx
        await journal.record_start(
            CallStarted(
                call_id=call.id,
                tool=spec.name,
                version=spec.version,
                source=spec.source,
                principal=ctx.principal.id,
                tenant=ctx.principal.tenant,
                effect=spec.effect.value,
                handler=spec.handler,
                arguments_digest=digest_of(call.raw),
                started_at=call.started_at,
                run_id=ctx.run_id,
                parent_id=ctx.parent_id,
                idempotency_key=ctx.idempotency_key or "",
                decision=call.decision.verdict if call.decision is not None else "",
                instead_of=ctx.instead_of,
            )
        )
        return await following(call)

    return handle
