"""`/approvals`: approvals that calls need from people, and their decisions."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Response
from starlette.exceptions import HTTPException

from pegboard.core.ports.approval_store import Approval, ApprovalQuery
from pegboard.core.principal import Principal
from pegboard.errors import ApprovalDecided, InvalidRequest, PegboardError
from pegboard.features.approvals.schemas import (
    ApprovalAnswer,
    ApprovalDecision,
    ApprovalFilter,
    ApprovalList,
    DecisionList,
    DecisionListAnswer,
    DecisionRequest,
)
from pegboard.runtime import Pegboard
from pegboard.servers.http.approval_views import show_approvals
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.problem_details import error_answer

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
    shown = await show_approvals(board, page.approvals, principal=caller)
    return JsonResponse({"approvals": shown, "next_cursor": page.next_cursor or None})


@router.get("/approvals/{approval}", response_model=ApprovalAnswer, responses=refusals(404))
async def show_approval(board: Board, caller: Caller, approval: ApprovalId) -> Response:
    """Show an approval and its decision."""
    found = await board.approvals.get(approval, principal=caller)
    return JsonResponse((await show_approvals(board, [found], principal=caller))[0])


@router.post("/approvals", response_model=DecisionListAnswer, responses=refusals(400, 413, 415))
async def decide_approvals(
    board: Board, caller: Caller, wanted: Annotated[DecisionList, Body()]
) -> Response:
    """Decide several approvals, each by itself; says for each what became of it.

    One that an earlier decision of this request covers counts as approved.
    """
    results: list[dict[str, Any]] = []
    for item in wanted.decisions:
        try:
            decided = await _decide_one_of_several(board, caller, item)
        except PegboardError as error:
            problem = dict(error_answer(error).body)
            results.append({"id": item.approval, "approval": None, "problem": problem})
        else:
            shown = await show_approvals(board, [decided], principal=caller)
            results.append({"id": item.approval, "approval": shown[0], "problem": None})
    return JsonResponse({"results": results})


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
    decided = await _decide(board, caller, approval, wanted)
    return JsonResponse((await show_approvals(board, [decided], principal=caller))[0])


async def _decide(
    board: Pegboard, caller: Principal, approval: str, wanted: DecisionRequest
) -> Approval:
    return await board.approvals.decide(
        approval,
        wanted.decision,
        note=wanted.note,
        arguments=wanted.arguments,
        scope=wanted.scope,
        principal=caller,
    )


async def _decide_one_of_several(
    board: Pegboard, caller: Principal, wanted: ApprovalDecision
) -> Approval:
    try:
        return await _decide(board, caller, wanted.approval, wanted)
    except ApprovalDecided:
        known = await board.approvals.get(wanted.approval, principal=caller)
        if known.grant and wanted.decision == "approve":
            return known
        raise
