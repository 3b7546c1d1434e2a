"""`/pins` and `/tools/held`: approved definitions of upstream tools, and those held for review."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Response
from starlette.exceptions import HTTPException

from pegboard.errors import InvalidRequest
from pegboard.features.pins.schemas import (
    DefinitionDecision,
    HeldAnswer,
    HeldFilter,
    HeldList,
    PinFilter,
    PinList,
    definition_to_dict,
    definitions_to_dict,
    pins_to_dict,
)
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals

router = APIRouter(route_class=JsonRoute, tags=["pins"])

SourceName = Annotated[str, Path(min_length=1, max_length=128, description="Source of the tool.")]
HeldName = Annotated[
    str,
    Path(
        min_length=1,
        max_length=300,
        description="Name on the upstream, or wire name, with or without its source.",
    ),
]
_STATES = {"approve": "approved", "reject": "rejected"}
_NO_PAGE = "No page has this cursor."


@router.get("/pins", response_model=PinList, responses=refusals(404))
async def list_pins(
    board: Board, caller: Caller, wanted: Annotated[PinFilter, Query()]
) -> Response:
    """List the approved definitions of upstream tools, by source and name."""
    try:
        page = await board.pins.list_pins(**wanted.model_dump(), principal=caller)
    except InvalidRequest as error:  # the rest of the query is valid
        raise HTTPException(404, _NO_PAGE) from error
    return JsonResponse(pins_to_dict(page))


@router.get("/tools/held", response_model=HeldList, responses=refusals(404))
async def list_held(
    board: Board, caller: Caller, wanted: Annotated[HeldFilter, Query()]
) -> Response:
    """List held definitions, changed or of new tools, each with its diff."""
    try:
        page = await board.pins.list_held(**wanted.model_dump(), principal=caller)
    except InvalidRequest as error:  # as above
        raise HTTPException(404, _NO_PAGE) from error
    return JsonResponse(definitions_to_dict(page))


@router.get("/tools/held/{source}/{name}", response_model=HeldAnswer, responses=refusals(404))
async def show_held(board: Board, caller: Caller, source: SourceName, name: HeldName) -> Response:
    """Show the held definition of a tool with its diff."""
    return JsonResponse(definition_to_dict(await board.pins.get(source, name, principal=caller)))


@router.post(
    "/tools/held/{source}/{name}",
    response_model=HeldAnswer,
    responses=refusals(400, 404, 409, 413, 415),
)
async def decide_definition(
    board: Board,
    caller: Caller,
    source: SourceName,
    name: HeldName,
    wanted: Annotated[DefinitionDecision, Body()],
) -> Response:
    """Approve a held definition, or reject it and keep the one approved before, if any."""
    held = await board.pins.decide(
        source, name, wanted.decision, digest=wanted.digest, principal=caller
    )
    return JsonResponse(definition_to_dict(held, state=_STATES[wanted.decision]))
