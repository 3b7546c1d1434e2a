"""`/sources`, `/results`, `/metrics`: the state of the board, and stored results."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from starlette.exceptions import HTTPException

from pegboard.core.context import ToolContext
from pegboard.errors import AccessDenied
from pegboard.execution.results.paging import read_whole
from pegboard.features.permissions import check_may_read_results, sees_whole_board
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.models.record_responses import ResultPageAnswer, SourceList
from pegboard.servers.http.models.requests import HealthFilter, PageFilter
from pegboard.servers.http.openapi import refusals

router = APIRouter(tags=["board"])

_METRICS = "text/plain; version=0.0.4; charset=utf-8"
_METRICS_CONTENT = {"text/plain": {"schema": {"type": "string"}}}


@router.get("/sources", response_model=SourceList, responses=refusals())
async def list_sources(
    board: Board, caller: Caller, wanted: Annotated[HealthFilter, Query()]
) -> Response:
    """List the sources with their state, and the reason if one fails.

    A person with an account sees those of which a tool is visible, and connectors of one's own or
    shared ones; operators see all of the board.
    """
    sees_all = sees_whole_board(caller)
    reader = None if sees_all else caller
    sources = (
        await board.health(principal=reader)
        if wanted.health
        else board.observe_sources(principal=reader)
    )
    own = board.observe_connectors(principal=caller)
    if sees_all:
        return JsonResponse({"sources": [*sources, *own], "problem": board.problem})
    known = {tool.spec.source for tool in board.registry.visible(caller)}
    shown = [source for source in sources if source["name"] in known]
    return JsonResponse({"sources": [*shown, *own], "problem": ""})


@router.get("/results/{handle}", response_model=ResultPageAnswer, responses=refusals(404))
async def read_result(
    board: Board,
    caller: Caller,
    handle: Annotated[
        str,
        Path(min_length=1, max_length=128, description="The last part of `pegboard://results/…`."),
    ],
    wanted: Annotated[PageFilter, Query()],
) -> Response:
    """Read a page of one of your stored results, or all of it."""
    check_may_read_results(caller)
    if wanted.whole:
        whole = await read_whole(handle, board.registry.environment.results, caller)
        return JsonResponse(whole.to_dict())
    ctx: ToolContext[Any] = ToolContext(principal=caller)
    page = await board.registry.read_result(handle, page=wanted.page, ctx=ctx)
    return JsonResponse(page.to_dict())


@router.get(
    "/metrics",
    response_class=Response,
    responses=refusals(404) | {200: {"description": "Metrics.", "content": _METRICS_CONTENT}},
)
async def metrics(board: Board, caller: Caller) -> Response:
    """Get the metrics in the Prometheus text format; where there are accounts, as an operator."""
    if not sees_whole_board(caller):
        raise AccessDenied("the metrics", "the caller is no operator")
    try:
        text = await board.render_metrics()
    except RuntimeError as error:
        raise HTTPException(404, "This server keeps no metrics.") from error
    return Response(text, headers={"Content-Type": _METRICS})
