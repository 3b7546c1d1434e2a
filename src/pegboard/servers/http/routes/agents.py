"""`/agents` and `/chat/models`: who can be chosen to answer, and with which model."""

from fastapi import APIRouter, Response

from pegboard.features.agents.schemas import AgentListAnswer, ModelListAnswer
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals

router = APIRouter(route_class=JsonRoute, tags=["chat"])


@router.get("/agents", response_model=AgentListAnswer, responses=refusals())
async def list_agents(board: Board, caller: Caller) -> Response:
    """List the agents that can be chosen, with what each misses; instructions are not shown."""
    return JsonResponse({"agents": await board.agents.list(principal=caller)})


@router.get("/chat/models", response_model=ModelListAnswer, responses=refusals())
async def list_models(board: Board, caller: Caller) -> Response:
    """List the language models that can be chosen to answer."""
    return JsonResponse({"models": board.models.choices.list(principal=caller)})
