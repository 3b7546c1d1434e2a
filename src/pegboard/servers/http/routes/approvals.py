"""`/approvals`: approvals that calls need from people, and their decisions."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Response
from starlette.exceptions import HTTPException

from pegboard.core.ports.approval_store import ApprovalQuery
from pegboard.errors import InvalidRequest
from pegboard.features.approvals.schemas import (
    ApprovalAnswer,
    ApprovalFilter,
    ApprovalList,
    DecisionRequest,
    approval_to_dict,
    page_to_dict,
)
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals

router = APIRouter(route_class=JsonRoute, tags=["approvals"])

ApprovalId = Annotated[
    str, Path(min_length=1, max_length=128, description="`approval_id` of the problem.")
]


@router.get("/approvals", response_model=ApprovalList, responses=refusals(404))
async def list_approvals(
    board: Board, caller: Caller, wanted: Annotated[ApprovalFilter, Query()]
) -> Response:
    """List the approvals that you may see, newest first."""
    try:
        page = await board.approvals.list(ApprovalQuery(**wanted.model_dump()), principal=caller)
    except InvalidRequest as error:  # the rest of the query is valid
        raise HTTPException(404, "No page has this cursor.") from error
    return JsonResponse(page_to_dict(page))


@router.get("/approvals/{approval}", response_model=ApprovalAnswer, responses=refusals(404))
async def show_approval(board: Board, caller: Caller, approval: ApprovalId) -> Response:
    """Show an approval and its decision."""
    return JsonResponse(approval_to_dict(await board.approvals.get(approval, principal=caller)))


@router.post(
    "/approvals/{approval}",
    response_model=ApprovalAnswer,
    responses=refusals(400, 404, 409, 410, 413, 415),
)
async def decide_approval(
    board: Board,
    caller: Caller,
    approval: ApprovalId,
    wanted: Annotated[DecisionRequest, Body()],
) -> Response:
    """Approve, deny, or approve with other arguments; the call runs when it is repeated."""
    decided = await board.approvals.decide(
        approval,
        wanted.decision,
        note=wanted.note,
        arguments=wanted.arguments,
        principal=caller,
    )
    return JsonResponse(approval_to_dict(decided))
