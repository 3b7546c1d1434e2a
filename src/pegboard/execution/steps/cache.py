"""Cache: a fresh result is given again, and identical concurrent calls share one run."""

from collections.abc import Callable

from pegboard.core.result import ToolResult
from pegboard.execution.cache import Key
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.idempotency.fingerprint import fingerprint_of


def cache(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """For tools that are cacheable."""
    spec, tool = target.spec, target.tool
    if not spec.cacheable or spec.cache_ttl <= 0:
        return following
    answers, monotonic = environment.cache, environment.monotonic
    fingerprint = fingerprint_of(spec)

    async def handle(call: CallState) -> ToolResult:
        owner = call.owner if spec.cache_per_principal else ""
        if call.credential is not None:
            owner = f"{owner} {call.credential.about.account}"
        result, call.cached = await answers.get_or_make(
            Key(id(tool), fingerprint(call), owner),
            lambda: following(call),
            tool=tool,
            ttl=spec.cache_ttl,
            remaining=lambda: _remaining(call, monotonic),
        )
        return result

    return handle


def _remaining(call: CallState, monotonic: Callable[[], float]) -> float | None:
    return None if call.deadline is None else max(0.0, call.deadline - monotonic())
