"""`/skills`: the instructions of organisations, as people read them."""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from pegboard.features.skills import find_skill, list_skills
from pegboard.features.skills.schemas import SkillDetail, SkillList
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals

router = APIRouter(route_class=JsonRoute, tags=["skills"])

SkillTool = Annotated[
    str, Path(min_length=1, max_length=128, description="The tool that reads the skill.")
]


@router.get("/skills", response_model=SkillList, responses=refusals())
async def list_all_skills(board: Board, caller: Caller) -> Response:
    """List the skills that you see; one that cannot be used says why."""
    return JsonResponse({"skills": list_skills(board.registry, principal=caller)})


@router.get("/skills/{skill}", response_model=SkillDetail, responses=refusals(404))
async def show_skill(board: Board, caller: Caller, skill: SkillTool) -> Response:
    """Show what a skill says; its other files are read by its tool."""
    return JsonResponse(find_skill(board.registry, skill, principal=caller))
