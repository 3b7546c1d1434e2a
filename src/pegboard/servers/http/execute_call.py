"""Executes one call of a tool, for `POST /execute` and the WebSocket."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from fastapi import Response
from msgspec import to_builtins
from starlette.types import Receive

from pegboard.core.context import Progress, ToolContext
from pegboard.core.principal import Principal
from pegboard.core.result import ResultMeta, ToolResult
from pegboard.errors import IdempotencyConflict, ToolFailed, ToolNotFound
from pegboard.features.runs import RunView
from pegboard.registry.search import ToolQuery
from pegboard.runtime import Pegboard
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.models.requests import ExecuteRequest
from pegboard.servers.http.problem_details import ProblemAnswer, error_answer, problem_answer

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuccessAnswer:
    """The answer to a successful request, independent of the protocol."""

    body: Mapping[str, Any]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def response(self) -> Response:
        """The HTTP response."""
        return JsonResponse(self.body, self.status, headers=dict(self.headers))


def to_accepted_answer(view: RunView) -> SuccessAnswer:
    """The answer for a run that was started in the background."""
    return SuccessAnswer(body=view.to_dict(), status=202, headers={"Location": f"/runs/{view.id}"})


async def execute_call(
    board: Pegboard,
    caller: Principal,
    wanted: ExecuteRequest,
    *,
    key: str = "",
    on_progress: Callable[[Progress], None] | None = None,
) -> SuccessAnswer | ProblemAnswer:
    """Execute a call; a failed call is a problem with the code of its error.

    Args:
        board: The board.
        caller: The caller.
        wanted: The tool and its input.
        key: The idempotency key of the request's header.
        on_progress: Called with the progress of the call.

    Raises:
        PegboardError: The call could not be started.
    """
    name = _find_name(board, wanted, caller)
    if name is None:
        detail = f"No tool that you may see has the capability '{wanted.capability}'."
        return problem_answer(404, detail, code=ToolNotFound.code)
    if wanted.in_background:
        return await _in_background(board, caller, name, wanted, key)
    ctx: ToolContext[Any] = ToolContext(
        principal=caller,
        deadline=_deadline(board, wanted.execution_config.timeout_ms),
        idempotency_key=_key(key, wanted.execution_config.idempotency_key),
        on_progress=on_progress,
        account=wanted.execution_config.account,
    )
    result = await board.call(name, wanted.input, ctx)
    metadata = _metadata(result)
    if result.is_error:
        error = result.error or ToolFailed("The tool failed.")
        return error_answer(error, tool_id=wanted.tool_id or name, metadata=metadata)
    tool = board.registry.find(name)  # only now: the call may have waited for its source
    return SuccessAnswer(
        body={
            "tool_id": tool.spec.id if tool is not None else name,
            "status": "completed",
            "output": _output(result),
            "execution_time_ms": result.meta.duration_ms,
            "metadata": metadata,
        }
    )


async def cancel_on_disconnect(receive: Receive, work: Coroutine[Any, Any, Value]) -> Value | None:
    """The value of the work; None when the client disconnects, which cancels the work.

    The work runs in the current task, and the connection is watched once the work has taken some
    milliseconds: two tasks would cost as much as a short call.
    """
    loop, task = asyncio.get_running_loop(), cast("asyncio.Task[Any]", asyncio.current_task())
    watching: asyncio.Task[None] | None = None
    is_gone = False

    def watch() -> None:
        nonlocal watching
        watching = loop.create_task(_disconnect(receive))
        watching.add_done_callback(leave)

    def leave(done: "asyncio.Task[None]") -> None:
        nonlocal is_gone
        if not done.cancelled():
            done.exception()  # a broken connection is gone too
            is_gone = True
            task.cancel()

    timer = loop.call_later(_WATCH_AFTER, watch)
    try:
        value = await work
    except asyncio.CancelledError:
        if not is_gone or task.uncancel():
            raise
        return None
    else:
        if is_gone:  # the work has swallowed its cancellation
            task.uncancel()
        return value
    finally:
        timer.cancel()
        if watching is not None:
            watching.remove_done_callback(leave)
            watching.cancel()
            await asyncio.wait((watching,))


_WATCH_AFTER = 0.005
"""Seconds of a call, from which on it is worth watching whether its client is still there."""


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _in_background(
    board: Pegboard, caller: Principal, name: str, wanted: ExecuteRequest, key: str
) -> SuccessAnswer:
    config = wanted.execution_config
    await board.wait_for(name, principal=caller)
    view = await board.runs.start_call(
        name,
        wanted.input,
        principal=caller,
        seconds=None if config.timeout_ms is None else config.timeout_ms / 1000,
        key=_key(key, config.idempotency_key) or "",
        account=config.account,
    )
    return to_accepted_answer(view)


def _find_name(board: Pegboard, wanted: ExecuteRequest, caller: Principal) -> str | None:
    """The tool's name, id or pinned version as given; None if no tool has the capability."""
    if not wanted.capability:
        return wanted.tool_id or wanted.name
    chosen = board.plans.choose_tool(wanted.capability, wanted.input, principal=caller)
    if chosen is not None:
        return chosen.spec.name
    found = board.registry.search(
        ToolQuery(capability=wanted.capability, limit=1), principal=caller
    )
    return found[0].spec.name if found else None


def _deadline(board: Pegboard, timeout_ms: float | None) -> float | None:
    if timeout_ms is None:
        return None
    longest = board.settings.call_timeout
    seconds = min(timeout_ms / 1000, longest) if longest else timeout_ms / 1000
    return board.monotonic() + seconds


def _key(header: str, body: str | None) -> str | None:
    if header and body and header != body:
        raise IdempotencyConflict(
            "The header Idempotency-Key and execution_config.idempotency_key differ; send one."
        )
    return header or body


def _output(result: ToolResult) -> Any:
    if result.structured is not None:
        return result.structured
    if isinstance(result.content, str):
        return None if result.content == "null" else result.content
    return to_builtins(result.content)


def _metadata(result: ToolResult) -> dict[str, Any]:
    meta: ResultMeta = result.meta
    data: dict[str, Any] = {
        "call_id": meta.call_id,
        "attempts": meta.attempts,
        "cached": meta.cached,
        "replayed": meta.replayed,
        "truncated": meta.truncated,
    }
    optional: dict[str, Any] = {
        "tries": [to_builtins(item) for item in meta.tries],
        "handle": meta.handle,
        "total_bytes": meta.total_bytes,
        "tokens_consumed": meta.tokens,
        "model_used": meta.model,
        "cost": meta.cost,
        "account": meta.account,
        "artifacts": [
            {"name": a.name, "media_type": a.media_type, "size": a.size, "handle": a.handle}
            for a in result.artifacts
        ],
    }
    return data | {key: value for key, value in optional.items() if value not in (None, "", 0, [])}
