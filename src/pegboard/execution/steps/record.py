"""Record: every outcome below becomes one event and a result for the caller."""

import asyncio
from collections.abc import Callable, Mapping
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
from pegboard.execution.errors_for_readers import (
    describe_for_operator,
    log_unexpected_error,
    make_failed_result,
    status_of,
    translate_error,
)
from pegboard.execution.results.masking import collect_texts
from pegboard.execution.results.paging import size_of


def record(
    target: CompiledTool | None, environment: CallEnvironment, following: Handler
) -> Handler:
    """Always there; `target` is None for an unknown name."""
    emitter, monotonic = environment.emitter, environment.monotonic
    spec = target.spec if target is not None else None
    version, source, effect, handler = (
        (spec.version, spec.source, spec.effect.value, spec.handler)
        if spec is not None
        else ("", "", "", "")
    )

    def finished(call: CallState, result: ToolResult, status: str) -> ToolResult:
        duration = (monotonic() - call.started) * 1000
        if emitter.has_listeners:
            decision, raw, content = call.decision, call.raw, result.content
            # fields that mostly have their default are left to `_rare`: each costs every call, and
            # with more than 15 keywords Python makes a dict of them, which costs as much as a step
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
                handler=handler,
                decision=decision.verdict if decision is not None else "",
                reason=decision.reason if decision is not None else "",
                bytes_in=len(raw) if isinstance(raw, (str, bytes)) else _size_of_mapping(raw),
                bytes_out=len(content) if isinstance(content, str) else 0,
                arguments=raw,
            )
            rare = _rare(call, result, environment, spec)
            emitter.emit(structs.replace(event, **rare) if rare else event)
        return _add_measurements(call, result, duration)

    def fail(call: CallState, raised: Exception, error: PegboardError) -> ToolResult:
        result = make_failed_result(error, call.mask_with(environment.redact))
        log_unexpected_error(
            call.name, raised, result.error, lambda: _detail_of(call, result, environment)
        )
        return finished(call, result, status_of(error))

    async def handle(call: CallState) -> ToolResult:
        try:
            result = await following(call)
        except PegboardError as error:
            return fail(call, error, error)
        except asyncio.CancelledError as error:
            finished(call, ToolResult(is_error=True), "cancelled")  # it has not failed
            error.args = ()  # what it says of this call does not hold for one around it
            raise
        except Exception as error:  # noqa: BLE001 - every call is recorded here, whatever error ended it
            return fail(call, error, translate_error(call.name, error))
        if not result.is_error:
            return finished(call, result, "completed")
        failed, error = _with_error(result, call.mask_with(environment.redact))
        return finished(call, failed, status_of(error))

    return handle


def _size_of_mapping(arguments: Mapping[str, Any] | None) -> int:
    """Bytes of the arguments as JSON; 0 for a value without a JSON form, which is refused."""
    if arguments is None:
        return 0
    try:
        return len(to_json(arguments, inf_nan_mode="constants"))
    except (ValueError, RecursionError):
        return 0


def _rare(
    call: CallState, result: ToolResult, environment: CallEnvironment, spec: ToolSpec | None
) -> dict[str, Any]:
    """The fields that few calls set; usually empty."""
    rare = _rare_sizes(call, result)
    ctx, error, meta = call.ctx, result.error, result.meta
    if ctx.run_id or ctx.parent_id or ctx.idempotency_key:
        rare["run_id"], rare["parent_id"] = ctx.run_id, ctx.parent_id
        rare["idempotency_key"] = ctx.idempotency_key or ""
    if ctx.instead_of or call.untrusted:
        rare["instead_of"], rare["untrusted"] = ctx.instead_of, call.untrusted
    if call.cached or call.replayed:
        rare["cached"], rare["replayed"] = call.cached, call.replayed
    if call.attempts != 1:
        rare["attempts"] = call.attempts
    if meta.truncated:
        rare["truncated"] = True
    if spec is not None and (spec.credential or spec.toolkit or spec.caller_credential):
        rare["credential"], rare["toolkit"] = _credential_of(call, spec), spec.toolkit
    if meta.tokens is not None:
        rare["model"], rare["tokens"], rare["cost"] = meta.model, meta.tokens, meta.cost
        rare["cached_tokens"] = meta.cached_tokens
    if error is not None:
        rare["error_code"], rare["error_id"] = error.code, error.error_id or ""
        rare["about_caller"] = error.is_about_caller
        rare["error_detail"] = _detail_of(call, result, environment)
        # a validation error quotes arguments, and records keep none
        quotes = isinstance(error, ToolArgumentError)
        rare["error_message"] = error.summary if quotes else str(error)
    return rare


def _credential_of(call: CallState, spec: ToolSpec) -> str:
    """The credential that the call has used, of the source or of a caller."""
    if call.credential is not None:
        return call.credential.about.label
    return "" if spec.caller_credential else spec.credential


def _detail_of(call: CallState, result: ToolResult, environment: CallEnvironment) -> str:
    """The operator's detail of a failed call."""
    if result.error is None:
        return ""
    return describe_for_operator(
        result.error, call.mask_with(environment.redact), hidden=_texts_to_hide(call, environment)
    )


def _rare_sizes(call: CallState, result: ToolResult) -> dict[str, Any]:
    """The sizes that are not the lengths of ASCII texts."""
    rare: dict[str, Any] = {}
    if isinstance(call.raw, str) and not call.raw.isascii():
        rare["bytes_in"] = size_of(call.raw)
    if result.meta.total_bytes:
        rare["bytes_out"] = result.meta.total_bytes
    elif not isinstance(result.content, str) or not result.content.isascii():
        rare["bytes_out"] = size_of(result.content)
    return rare


def _texts_to_hide(call: CallState, environment: CallEnvironment) -> frozenset[str]:
    """The texts of the arguments, which a foreign error may quote."""
    return (
        frozenset()
        if environment.settings.keep_arguments
        else collect_texts(call.raw, call.arguments)
    )


def _add_measurements(call: CallState, result: ToolResult, duration: float) -> ToolResult:
    """The result with call id, duration and attempts."""
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
    if call.credential is not None:
        meta = structs.replace(meta, account=call.credential.about.label)
    if call.tries is not None and len(call.tries) > 1:
        meta = structs.replace(meta, tries=tuple(call.tries))
    return ToolResult(
        content=result.content,
        structured=result.structured,
        artifacts=result.artifacts,
        is_error=result.is_error,
        error=result.error,
        meta=meta,
    )


def _with_error(
    result: ToolResult, redact: Callable[[str], str] | None
) -> tuple[ToolResult, PegboardError]:
    """The error of a result that the tool marked as failed: its own text."""
    error = result.error or ToolFailed(result.text or "The tool reported an error.")
    shown = make_failed_result(error, redact)
    return structs.replace(shown, **_own_fields(result)), error


def _own_fields(result: ToolResult) -> dict[str, Any]:
    said = {"structured": result.structured, "artifacts": result.artifacts, "meta": result.meta}
    return said | {"content": result.content} if result.content else said
