"""`/tools`: list, search, show, explain."""

from dataclasses import asdict
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Response
from starlette.exceptions import HTTPException

from pegboard.errors import ToolNotFound
from pegboard.execution.input_validation import validate_input
from pegboard.registry.prepared_search import BY_WORDS, PreparedSearch
from pegboard.registry.search import ToolQuery
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.models.requests import SearchRequest, ToolFilter, ValidateRequest
from pegboard.servers.http.models.responses import (
    ToolDetail,
    ToolExplanation,
    ToolList,
    ValidationAnswer,
)
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.tool_views import find_visible_tool, tool_detail, tool_page

router = APIRouter(route_class=JsonRoute, tags=["tools"])

ToolName = Annotated[
    str, Path(min_length=1, max_length=128, description="Wire name or id of the tool.")
]

CallArguments = Annotated[
    str | None,
    Query(
        max_length=8_000,
        description="The arguments of a call as a JSON object, for rules that look at them.",
    ),
]

Subject = Annotated[
    str,
    Query(
        max_length=254,
        description="A person, by handle or e-mail address; empty for yourself.",
    ),
]


@router.get("/tools", response_model=ToolList, responses=refusals(404))
async def list_tools(
    board: Board, caller: Caller, wanted: Annotated[ToolFilter, Query()]
) -> Response:
    """List the tools that you may see, by name, or by rank if there is a search text."""
    query = _query(wanted, words=wanted.q, tags=wanted.tag)
    prepared = await _prepare(board, query, caller)
    page = tool_page(
        board.registry,
        query,
        principal=caller,
        cursor=wanted.cursor,
        prepared=prepared,
        unavailable=wanted.unavailable,
        view=partial(tool_detail, board, principal=caller) if wanted.detail else None,
    )
    return JsonResponse(page)


@router.post("/tools/search", response_model=ToolList, responses=refusals(400, 404, 413, 415))
async def search_tools(
    board: Board, caller: Caller, wanted: Annotated[SearchRequest, Body()]
) -> Response:
    """Search the tools that you may see; a search text finds the best 500."""
    query = _query(wanted, words=wanted.query, tags=wanted.tags)
    prepared = await _prepare(board, query, caller)
    page = tool_page(
        board.registry, query, principal=caller, cursor=wanted.cursor, prepared=prepared
    )
    return JsonResponse(page)


@router.get("/tools/{tool}", response_model=ToolDetail, responses=refusals(404, 405))
async def show_tool(board: Board, caller: Caller, tool: ToolName) -> Response:
    """Show the complete spec of a tool, with its schemas; a hidden tool is not found."""
    try:
        found = find_visible_tool(board, tool, caller)
    except ToolNotFound:
        if tool in {"search", "register", "bulk"}:  # the other routes at this path only accept POST
            raise HTTPException(405, headers={"Allow": "POST"}) from None
        raise
    return JsonResponse(tool_detail(board, found.spec, principal=caller))


@router.get("/tools/{tool}/explain", response_model=ToolExplanation, responses=refusals(404))
async def explain_tool(
    board: Board,
    caller: Caller,
    tool: ToolName,
    arguments: CallArguments = None,
    who: Subject = "",
) -> Response:
    """Explain why you may or may not call a tool, including hidden ones.

    Operators ask for anybody, administrators for members of their organisations.
    """
    subject = caller
    if who:
        subject = await board.identity.subjects.find(who, principal=caller)
        if not caller.is_operator:
            find_visible_tool(board, tool, caller)
    told = board.explain(tool, arguments, principal=subject, asker=caller)
    user = await board.identity.accounts.find(subject)
    return JsonResponse(told.to_dict() | {"principal_handle": user.handle if user else ""})


@router.post(
    "/tools/{tool}/validate",
    response_model=ValidationAnswer,
    responses=refusals(400, 404, 413, 415),
)
async def validate_tool_input(
    board: Board, caller: Caller, tool: ToolName, wanted: Annotated[ValidateRequest, Body()]
) -> Response:
    """Validate arguments for a tool that you may see, without calling it."""
    found = find_visible_tool(board, tool, caller)
    result = await validate_input(found, wanted.input, board.registry.environment, caller)
    problems = [asdict(problem) for problem in result.problems]
    return JsonResponse({"valid": result.valid, "problems": problems})


async def _prepare(board: Board, query: ToolQuery, caller: Caller) -> PreparedSearch:
    if not query.query:
        return BY_WORDS
    return await board.registry.prepare_search(query.query, principal=caller)


def _query(wanted: ToolFilter | SearchRequest, *, words: str, tags: list[str]) -> ToolQuery:
    return ToolQuery(
        query=words,
        capability=wanted.capability,
        tags=tuple(tags),
        category=wanted.category,
        source=wanted.source,
        effect=wanted.effect,
        status=wanted.status,
        limit=wanted.limit,
    )
