"""Record: whatever happens below, one event says it, and the caller gets a result."""

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec import structs
from pydantic_core import to_json

from pegboard.core.event import CallRecord
from pegboard.core.result import NO_META, ResultMeta, ToolResult
from pegboard.core.tool import ToolSpec
from pegboard.errors import PegboardError, ToolArgumentError, ToolFailed
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.errors_for_readers import detail_of, failed_result, status_of, translated
from pegboard.execution.results.masking import texts_of
from pegboard.execution.results.paging import size_of


def record(target: CompiledTool | None, kit: CallEnvironment, following: Handler) -> Handler:
    """Always there; `target` is None for a name that no tool has."""
    emitter, monotonic = kit.emitter, kit.monotonic
    spec = target.spec if target is not None else None
    version, source, effect = (
        (spec.version, spec.source, spec.effect.value) if spec is not None else ("", "", "")
    )

    def finished(call: CallState, result: ToolResult, status: str) -> ToolResult:
        duration = (monotonic() - call.started) * 1000
        if emitter.is_heard:
            decision, raw, content = call.decision, call.raw, result.content
            # what is at its default in most calls is not named here: each name costs every call
            event = CallRecord(
                call_id=call.id,
                tool=call.name,
                status=status,
                started_at=call.started_at,
                duration_ms=duration,
                principal=call.ctx.principal,
                version=version,
                source=source,
                effect=effect,
                decision=decision.verdict if decision is not None else "",
                reason=decision.reason if decision is not None else "",
                attempts=call.attempts,
                bytes_in=len(raw) if isinstance(raw, (str, bytes)) else _size_of_mapping(raw),
                bytes_out=len(content) if isinstance(content, str) else 0,
                arguments=raw,
            )
            rare = _rare(call, result, kit, spec)
            emitter.emit(structs.replace(event, **rare) if rare else event)
        return _measured(call, result, duration)

    async def handle(call: CallState) -> ToolResult:
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
        failed, error = _with_error(result, kit)
        return finished(call, failed, status_of(error))

    return handle


def _size_of_mapping(arguments: Mapping[str, Any] | None) -> int:
    """Bytes of the arguments as JSON; 0 for what is no JSON, for which the call is refused."""
    if arguments is None:
        return 0
    try:
        return len(to_json(arguments, inf_nan_mode="constants"))
    except (ValueError, RecursionError):
        return 0


def _rare(
    call: CallState, result: ToolResult, kit: CallEnvironment, spec: ToolSpec | None
) -> dict[str, Any]:
    """What few calls have to say of themselves; usually nothing."""
    rare: dict[str, Any] = {}
    ctx, error, meta = call.ctx, result.error, result.meta
    if ctx.run_id or ctx.parent_id or ctx.idempotency_key:
        rare["run_id"], rare["parent_id"] = ctx.run_id, ctx.parent_id
        rare["idempotency_key"] = ctx.idempotency_key or ""
    if ctx.instead_of:
        rare["instead_of"] = ctx.instead_of
    if call.cached or call.replayed:
        rare["cached"], rare["replayed"] = call.cached, call.replayed
    if isinstance(call.raw, str) and not call.raw.isascii():
        rare["bytes_in"] = size_of(call.raw)
    if not isinstance(result.content, str) or not result.content.isascii():
        rare["bytes_out"] = size_of(result.content)
    if meta.truncated:
        rare["truncated"] = True
    if meta.total_bytes:
        rare["bytes_out"] = meta.total_bytes
    if spec is not None and spec.handler:
        rare["handler"], rare["credential"] = spec.handler, spec.credential
    if error is not None:
        rare["error_code"], rare["error_id"] = error.code, error.error_id or ""
        rare["error_detail"] = detail_of(error, kit.redact, hidden=_hidden(call, kit))
        # what was wrong with arguments quotes them, and records keep no arguments
        quotes = isinstance(error, ToolArgumentError)
        rare["error_message"] = error.summary if quotes else str(error)
    return rare


def _hidden(call: CallState, kit: CallEnvironment) -> frozenset[str]:
    """What a foreign error may quote and nobody wants to keep."""
    return frozenset() if kit.settings.keep_arguments else texts_of(call.raw, call.arguments)


def _measured(call: CallState, result: ToolResult, duration: float) -> ToolResult:
    """The result, saying how the call went."""
    if result.meta is NO_META and not (call.cached or call.replayed):
        meta = ResultMeta(call_id=call.id, duration_ms=duration, attempts=call.attempts)
    else:
        meta = structs.replace(
            result.meta,
            call_id=call.id,
            duration_ms=duration,
            attempts=call.attempts,
            cached=call.cached,
            replayed=call.replayed,
        )
    return ToolResult(
        content=result.content,
        structured=result.structured,
        artifacts=result.artifacts,
        is_error=result.is_error,
        error=result.error,
        meta=meta,
    )


def _with_error(result: ToolResult, kit: CallEnvironment) -> tuple[ToolResult, PegboardError]:
    """A tool may say itself that it failed: then its own words are the error."""
    error = result.error or ToolFailed(result.text or "The tool reported an error.")
    shown = failed_result(error, kit.redact)
    return structs.replace(shown, **_said(result)), error


def _said(result: ToolResult) -> dict[str, Any]:
    said = {"structured": result.structured, "artifacts": result.artifacts, "meta": result.meta}
    return said | {"content": result.content} if result.content else said
