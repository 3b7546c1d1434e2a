"""`/execute`: one call."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Request, Response
from msgspec import to_builtins

from pegboard.core.context import ToolContext
from pegboard.core.principal import Principal
from pegboard.core.result import ResultMeta, ToolResult
from pegboard.errors import IdempotencyConflict, ToolFailed, ToolNotFound
from pegboard.features.runs.schemas import RunAnswer
from pegboard.registry.query import ToolQuery
from pegboard.runtime import Pegboard
from pegboard.servers.http.answers import ExecuteAnswer
from pegboard.servers.http.body import CLIENT_CLOSED, JsonResponse, JsonRoute
from pegboard.servers.http.inputs import Board, Caller
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.presence import unless_gone
from pegboard.servers.http.problem import problem, problem_of
from pegboard.servers.http.requests import ExecuteRequest

router = APIRouter(route_class=JsonRoute, tags=["calls"])

Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="The same key and input give the first outcome again.",
    ),
]


@router.post(
    "/execute",
    response_model=ExecuteAnswer,
    responses=refusals(400, 403, 404, 409, 413, 415, 429, 502, 504)
    | {202: {"model": RunAnswer, "description": "A run of this one call, with `async: true`."}},
)
async def execute(
    request: Request,
    board: Board,
    caller: Caller,
    wanted: Annotated[ExecuteRequest, Body()],
    key: Key = "",
) -> Response:
    """Call a tool. A failed call is answered as a problem, with the code of its error."""
    name = _named(board, wanted, caller)
    if name is None:
        detail = f"No tool that you may see has the capability '{wanted.capability}'."
        return problem(404, detail, code=ToolNotFound.code)
    if wanted.in_background:
        return await _in_background(board, caller, name, wanted, key)
    tool = board.registry.find(name)
    ctx: ToolContext[Any] = ToolContext(
        principal=caller,
        deadline=_deadline(board, wanted.execution_config.timeout_ms),
        idempotency_key=_key(key, wanted.execution_config.idempotency_key),
    )
    result = await unless_gone(request.receive, board.call(name, wanted.input, ctx))
    if result is None:
        return Response(status_code=CLIENT_CLOSED)
    metadata = _metadata(result)
    if result.is_error:
        error = result.error or ToolFailed("The tool failed.")
        return problem_of(error, tool_id=wanted.tool_id or name, metadata=metadata)
    return JsonResponse(
        {
            "tool_id": tool.spec.id if tool is not None else name,
            "status": "completed",
            "output": _output(result),
            "execution_time_ms": result.meta.duration_ms,
            "metadata": metadata,
        }
    )


async def _in_background(
    board: Pegboard, caller: Principal, name: str, wanted: ExecuteRequest, key: str
) -> Response:
    config = wanted.execution_config
    view = await board.runs.start_call(
        board.find(name).spec.name,
        wanted.input,
        principal=caller,
        seconds=None if config.timeout_ms is None else config.timeout_ms / 1000,
        key=_key(key, config.idempotency_key) or "",
    )
    return JsonResponse(view.to_dict(), 202, headers={"Location": f"/runs/{view.id}"})


def _named(board: Pegboard, wanted: ExecuteRequest, caller: Principal) -> str | None:
    """The tool's wire name, whichever way it was named; None when no tool has the capability."""
    if not wanted.capability:
        given = wanted.tool_id or wanted.name
        tool = board.registry.find(given)
        return tool.spec.name if tool is not None else given
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
        "handle": meta.handle,
        "total_bytes": meta.total_bytes,
        "tokens_consumed": meta.tokens,
        "model_used": meta.model,
        "cost": meta.cost,
        "artifacts": [
            {"name": a.name, "media_type": a.media_type, "size": a.size, "handle": a.handle}
            for a in result.artifacts
        ],
    }
    return data | {key: value for key, value in optional.items() if value not in (None, "", 0, [])}
