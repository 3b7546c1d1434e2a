"""`/plan` and `/plans`: make, check, show and run plans."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request, Response

from pegboard.concurrency.cooperative import in_thread
from pegboard.features.plans.schemas import CheckAnswer, PlanAnswer, PlanRequestBody
from pegboard.features.plans.views import show_check, show_plan
from pegboard.features.runs.schemas import RunAnswer, RunPlanBody
from pegboard.rendering.svg import chart
from pegboard.rendering.text import mermaid
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.execute_call import to_accepted_answer
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.picture_responses import (
    DRAWINGS,
    Format,
    choose_format,
    mermaid_response,
    svg_response,
)
from pegboard.servers.http.routes.execute import Key

router = APIRouter(route_class=JsonRoute, tags=["plans"])

PlanId = Annotated[str, Path(min_length=1, max_length=200)]


@router.post("/plan", response_model=PlanAnswer, responses=refusals(400, 404, 409, 413, 415))
async def make_plan(
    board: Board, caller: Caller, wanted: Annotated[PlanRequestBody, Body()], key: Key = ""
) -> Response:
    """Make a plan from tools that you may call, and store it; the response lists all its faults."""

    async def work() -> dict[str, Any]:
        return show_plan(await board.plans.make(wanted.to_request(), principal=caller), mermaid)

    answer = await board.once.do(
        work,
        what="plan",
        key=key,
        request=wanted.model_dump(mode="json"),
        principal=caller,
        may_repeat=True,  # it runs nothing; at most an unused plan is left
    )
    return JsonResponse(answer)


@router.post("/plan/check", response_model=CheckAnswer, responses=refusals(400, 413, 415))
async def check_plan(
    board: Board,
    caller: Caller,
    document: Annotated[
        dict[str, Any],
        Body(description="A plan `{steps: [...]}`, or a graph `{nodes: [...]}`."),
    ],
) -> Response:
    """Check a plan and report all its faults; it is neither stored nor run."""
    found = await board.plans.check_in_slices(document, principal=caller)
    return JsonResponse(
        await in_thread(partial(show_check, found, mermaid), is_large=found.is_large)
    )


@router.get("/plans/{plan_id}", response_model=PlanAnswer, responses=refusals(400, 404) | DRAWINGS)
async def show_kept_plan(
    request: Request, board: Board, caller: Caller, plan_id: PlanId, wanted: Format = ""
) -> Response:
    """Show a stored plan, checked against the current board, or draw it."""
    made = await board.plans.get(plan_id, principal=caller)
    match choose_format(request, wanted):
        case "svg":
            return svg_response(chart(made.graph))
        case "mermaid":
            return mermaid_response(mermaid(made.graph))
        case _:
            return JsonResponse(show_plan(made, mermaid))


@router.post(
    "/plans/{plan_id}/run",
    status_code=202,
    response_model=RunAnswer,
    responses=refusals(400, 404, 409, 413, 415),
)
async def run_plan(
    board: Board,
    caller: Caller,
    plan_id: PlanId,
    wanted: Annotated[RunPlanBody, Body()],
    key: Key = "",
) -> Response:
    """Start a run of a plan; poll the run, or follow its events."""
    view = await board.runs.start_plan(plan_id, wanted.params, principal=caller, key=key)
    return to_accepted_answer(view).response()
