"""`/overview`: the home page of the console in one call."""

from fastapi import APIRouter, Response

from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.models.overview import OverviewAnswer
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.overview import create_overview

router = APIRouter(tags=["board"])


@router.get("/overview", response_model=OverviewAnswer, responses=refusals())
async def show_overview(board: Board, caller: Caller) -> Response:
    """Show what needs you, the latest work, the board, and the calls of the last 24 hours."""
    return JsonResponse(await create_overview(board, principal=caller))
