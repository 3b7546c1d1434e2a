"""`/agents`: who can be chosen to answer."""

from fastapi import APIRouter, Response

from pegboard.features.agents.schemas import AgentListAnswer
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals

router = APIRouter(route_class=JsonRoute, tags=["chat"])


@router.get("/agents", response_model=AgentListAnswer, responses=refusals())
async def list_agents(board: Board, caller: Caller) -> Response:
    """List the agents that can be chosen, with what each misses; instructions are not shown."""
    return JsonResponse({"agents": board.agents.list(principal=caller)})
