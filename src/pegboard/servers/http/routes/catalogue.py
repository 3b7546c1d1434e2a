"""`/tools/register`, and the versions, rollback and health of registered tools."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from pegboard.access import may_know
from pegboard.concurrency.cooperative import iterate_cooperatively
from pegboard.errors import ToolNotFound
from pegboard.features.catalogue.schemas import (
    BulkAnswer,
    DefinitionDiffAnswer,
    DeprecateBody,
    RegisteredAnswer,
    RollBackBody,
    VersionList,
)
from pegboard.features.health.schemas import ReplacementsAnswer, ToolHealthAnswer
from pegboard.features.permissions import check_may_change_catalogue
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.models.registration import BulkBody, Registration, definitions_of
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.routes.execute import Key
from pegboard.servers.http.routes.tools import ToolName
from pegboard.servers.http.tool_views import find_visible_tool

router = APIRouter(route_class=JsonRoute, tags=["catalogue"])

_ACTIONS = {"register": "POST", "bulk": "POST", "search": "POST", "held": "GET"}


class DiffFilter(BaseModel):
    """Query of `GET /tools/{tool}/diff`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    from_: Annotated[
        str, Field(alias="from", max_length=64, description="By default the version before `to`.")
    ] = ""
    to: Annotated[str, Field(max_length=64, description="By default the current version.")] = ""


@router.post(
    "/tools/register",
    status_code=201,
    response_model=RegisteredAnswer,
    responses=refusals(400, 409, 413, 415)
    | {200: {"model": RegisteredAnswer, "description": "This definition was registered already."}},
)
async def register_tool(
    board: Board, caller: Caller, wanted: Annotated[Registration, Body()], key: Key = ""
) -> Response:
    """Register a tool; a changed definition of a known name creates a new version."""
    definition = wanted.definition()

    async def work() -> dict[str, Any]:
        [made] = await board.catalogue.register([definition], principal=caller)
        return made.to_dict()

    answer = await board.once.do(
        work,
        what="register",
        key=key,
        request=definition,
        principal=caller,
        may_repeat=True,  # a known definition creates no new version
    )
    return JsonResponse(answer, 201 if answer["is_new"] else 200)


@router.post(
    "/tools/bulk",
    status_code=201,
    response_model=BulkAnswer,
    responses=refusals(400, 409, 413, 415),
)
async def register_tools(
    board: Board, caller: Caller, wanted: Annotated[BulkBody, Body()], key: Key = ""
) -> Response:
    """Register many tools: all of them, or none if one is invalid."""
    definitions = await definitions_of(wanted.tools)

    async def work() -> dict[str, Any]:
        made = await board.catalogue.register(definitions, principal=caller, origin="bulk")
        return {"registered": [item.to_dict() async for item in iterate_cooperatively(made)]}

    answer = await board.once.do(
        work,
        what="bulk",
        key=key,
        request=definitions,
        principal=caller,
        may_repeat=True,  # all or none were registered, and known definitions stay
    )
    return JsonResponse(answer, 201)


@router.delete(
    "/tools/{tool}", status_code=204, response_class=Response, responses=refusals(404, 405)
)
async def remove_tool(board: Board, caller: Caller, tool: ToolName) -> Response:
    """Remove a registered tool, or with an id or a pin only the versions that it means.

    Removed versions stay available for a rollback.
    """
    if tool in _ACTIONS and tool not in board.registry:
        raise HTTPException(405, headers={"Allow": _ACTIONS[tool]})
    _check_known(board, caller, tool)
    await board.catalogue.remove(tool, principal=caller)
    return Response(status_code=204)


@router.get("/tools/{tool}/versions", response_model=VersionList, responses=refusals(404))
async def list_versions(board: Board, caller: Caller, tool: ToolName) -> Response:
    """List all versions of a tool, oldest first, with their origin; also of a removed tool."""
    _check_visible(board, caller, tool)
    return JsonResponse({"versions": board.catalogue.history(tool)})


@router.get("/tools/{tool}/diff", response_model=DefinitionDiffAnswer, responses=refusals(400, 404))
async def diff_versions(
    board: Board, caller: Caller, tool: ToolName, wanted: Annotated[DiffFilter, Query()]
) -> Response:
    """Compare two versions of a tool, and report what the difference means for its users."""
    _check_visible(board, caller, tool)
    return JsonResponse(board.catalogue.diff(tool, wanted.from_, wanted.to))


@router.post(
    "/tools/{tool}/rollback",
    response_model=RegisteredAnswer,
    responses=refusals(400, 404, 409, 413, 415),
)
async def roll_back_tool(
    board: Board, caller: Caller, tool: ToolName, wanted: Annotated[RollBackBody, Body()]
) -> Response:
    """Make an older version of a tool current again, also after the tool was removed."""
    _check_known(board, caller, tool)
    made = await board.catalogue.roll_back(tool, wanted.version, principal=caller)
    return JsonResponse(made.to_dict())


@router.post(
    "/tools/{tool}/deprecate",
    response_model=RegisteredAnswer,
    responses=refusals(400, 404, 413, 415),
)
async def deprecate_tool(
    board: Board, caller: Caller, tool: ToolName, wanted: Annotated[DeprecateBody, Body()]
) -> Response:
    """Mark a version as deprecated; it can still be called."""
    _check_known(board, caller, tool)
    made = await board.catalogue.deprecate(tool, wanted.version, on=wanted.on, principal=caller)
    return JsonResponse(made.to_dict())


@router.get("/tools/{tool}/health", response_model=ToolHealthAnswer, responses=refusals(404))
async def show_health(board: Board, caller: Caller, tool: ToolName) -> Response:
    """Show the health of a tool, from its calls, its source and its dependencies."""
    spec = find_visible_tool(board, tool, caller).spec
    return JsonResponse(board.tool_health.to_dict(spec.id))


@router.get(
    "/tools/{tool}/replacements", response_model=ReplacementsAnswer, responses=refusals(404)
)
async def show_replacements(board: Board, caller: Caller, tool: ToolName) -> Response:
    """Propose tools that share a capability with this one and have matching schemas."""
    found = board.tool_health.replacements.find(tool, principal=caller)
    return JsonResponse(found.to_dict())


def _check_visible(board: Board, caller: Caller, tool: str) -> None:
    """Raise `ToolNotFound` for a tool that is hidden from the caller; removed tools count too."""
    removed = board.catalogue.find_removed(tool)
    if removed is None:
        find_visible_tool(board, tool, caller)
        return
    kit = board.registry.environment
    if not may_know(caller, removed, policy=kit.policy, switches=kit.switches):
        raise ToolNotFound(tool, board.registry.nearest(tool, caller))


def _check_known(board: Board, caller: Caller, tool: str) -> None:
    """Refuse a caller that may change no tool, and `ToolNotFound` for one hidden from it.

    The right is asked first, so that a hidden tool is refused as a missing one.
    """
    check_may_change_catalogue(caller, tool)
    if tool in board.registry:
        find_visible_tool(board, tool, caller)
