"""Record: whatever happens below, one event says it, and the caller gets a result."""

import asyncio

from pegboard.core.event import CallRecord
from pegboard.core.result import ResultMeta, ToolResult
from pegboard.errors import PegboardError, ToolFailed
from pegboard.execution.call import Handler, Run
from pegboard.execution.failures import detail_of, failed_result, status_of, translated
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def record(target: Target | None, kit: Kit, following: Handler) -> Handler:
    """Always there; `target` is None for a name that no tool has."""
    emitter, now, monotonic = kit.emitter, kit.now, kit.monotonic
    spec = target.spec if target is not None else None
    version, source, effect = (
        (spec.version, spec.source, spec.effect.value) if spec is not None else ("", "", "")
    )

    def finished(call: Run, result: ToolResult, status: str) -> ToolResult:
        meta = result.meta
        duration = (monotonic() - call.started) * 1000
        error = result.error
        if emitter.is_heard:
            decision, principal, content = call.decision, call.ctx.principal, result.content
            emitter.emit(
                CallRecord(
                    call_id=call.id,
                    tool=call.name,
                    status=status,
                    started_at=call.started_at,
                    duration_ms=duration,
                    principal=principal,
                    version=version,
                    source=source,
                    effect=effect,
                    decision=decision.verdict.value if decision is not None else "",
                    reason=decision.reason if decision is not None else "",
                    attempts=call.attempts,
                    cached=call.cached,
                    replayed=call.replayed,
                    truncated=meta.truncated,
                    bytes_in=len(call.raw) if isinstance(call.raw, (str, bytes)) else 0,
                    bytes_out=meta.total_bytes or (len(content) if isinstance(content, str) else 0),
                    error_code=error.code if error is not None else "",
                    error_id=(error.error_id or "") if error is not None else "",
                    error_message=str(error) if error is not None else "",
                    error_detail=detail_of(error) if error is not None else "",
                    run_id=call.ctx.run_id,
                    parent_id=call.ctx.parent_id,
                    idempotency_key=call.ctx.idempotency_key or "",
                    arguments=call.raw,
                )
            )
        return ToolResult(
            content=result.content,
            structured=result.structured,
            artifacts=result.artifacts,
            is_error=result.is_error,
            error=error,
            meta=ResultMeta(
                call_id=call.id,
                duration_ms=duration,
                attempts=call.attempts,
                cached=call.cached,
                replayed=call.replayed,
                truncated=meta.truncated,
                handle=meta.handle,
                total_bytes=meta.total_bytes,
                tokens=meta.tokens,
                cost=meta.cost,
                model=meta.model,
            ),
        )

    async def handle(call: Run) -> ToolResult:
        call.started = monotonic()
        call.started_at = now()
        try:
            result = await following(call)
        except PegboardError as error:
            return finished(call, failed_result(error, kit.redact), status_of(error))
        except asyncio.CancelledError:
            error = ToolFailed(f"'{call.name}' was cancelled.")
            finished(call, ToolResult(is_error=True, error=error), "cancelled")
            raise
        except Exception as error:  # noqa: BLE001 - the call is recorded here, whatever broke
            ours = translated(call.name, error)
            return finished(call, failed_result(ours, kit.redact), status_of(ours))
        if not result.is_error:
            return finished(call, result, "completed")
        return finished(call, _with_error(result), "failed")

    return handle


def _with_error(result: ToolResult) -> ToolResult:
    """A tool may say itself that it failed: then its own words are the error."""
    if result.error is not None:
        return result
    return ToolResult(
        content=result.content,
        structured=result.structured,
        artifacts=result.artifacts,
        is_error=True,
        error=ToolFailed(result.text or "The tool reported an error."),
        meta=result.meta,
    )
