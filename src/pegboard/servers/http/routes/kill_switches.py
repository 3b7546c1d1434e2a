"""`/switches`: kill switches of tools, sources and writes."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response

from pegboard.features.kill_switches.schemas import (
    SwitchAnswer,
    SwitchList,
    TurnSource,
    TurnTools,
    TurnWrites,
    switch_to_dict,
    switches_to_dict,
)
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.routes.execute import Key

router = APIRouter(route_class=JsonRoute, tags=["switches"])


@router.get("/switches", response_model=SwitchList, responses=refusals())
async def list_switches(board: Board, caller: Caller) -> Response:
    """List everything that is turned off, by whom and why."""
    return JsonResponse(switches_to_dict(await board.switches.list(principal=caller)))


@router.post("/switches", response_model=SwitchAnswer, responses=refusals(400, 404, 409, 413, 415))
async def turn_switch(
    board: Board,
    caller: Caller,
    wanted: Annotated[TurnTools | TurnSource | TurnWrites, Body(discriminator="kind")],
    key: Key = "",
) -> Response:
    """Turn tools, a source or all writes off or on, on every server, from the next call on."""
    switches, request = board.switches, wanted.model_dump(mode="json")

    async def turn_on() -> dict[str, Any]:
        return switch_to_dict(await switches.on(wanted.kind, wanted.name, principal=caller))

    async def turn_off() -> dict[str, Any]:
        done = await switches.off(wanted.kind, wanted.name, reason=wanted.reason, principal=caller)
        return switch_to_dict(done)

    # Repeating "off" is safe. Repeating "on" could undo an "off" that came in between.
    if wanted.turn == "off":
        answer = await board.once.at_once(
            turn_off, what="switch", key=key, request=request, principal=caller
        )
    else:
        answer = await board.once.do(
            turn_on, what="switch", key=key, request=request, principal=caller, may_repeat=False
        )
    return JsonResponse(answer)
