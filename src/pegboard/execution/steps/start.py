"""Start: a write is stored as started before it runs, so that a crash leaves a trace."""

from pegboard.core.event import CallStarted, digest_of
from pegboard.core.result import ToolResult
from pegboard.core.tool import Effect
from pegboard.execution.call import Handler, Run
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def start(target: Target, kit: Kit, following: Handler) -> Handler:
    """There for tools that may change something, where starts are kept."""
    spec, journal = target.spec, kit.journal
    if journal is None or spec.effect is Effect.READ:
        return following

    async def handle(call: Run) -> ToolResult:
        ctx = call.ctx
        await journal.started(
            CallStarted(
                call_id=call.id,
                tool=spec.name,
                version=spec.version,
                source=spec.source,
                principal=ctx.principal.id,
                tenant=ctx.principal.tenant,
                effect=spec.effect.value,
                arguments_digest=digest_of(call.raw),
                started_at=call.started_at,
                run_id=ctx.run_id,
                parent_id=ctx.parent_id,
                idempotency_key=ctx.idempotency_key or "",
                decision=call.decision.verdict if call.decision is not None else "",
            )
        )
        return await following(call)

    return handle
