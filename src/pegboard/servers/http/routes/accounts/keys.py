"""`/keys`: the API keys of the caller."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Response

from pegboard.features.identity.schemas import (
    KeyAnswer,
    KeyList,
    MakeKey,
    NewKeyAnswer,
    key_to_dict,
)
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals

router = APIRouter(route_class=JsonRoute, tags=["people"])

DAY = 24 * 3600.0


@router.get("/keys", response_model=KeyList, responses=refusals())
async def list_keys(board: Board, caller: Caller) -> Response:
    """List your keys, revoked ones included."""
    keys = await board.identity.keys.list(principal=caller)
    return JsonResponse({"keys": [key_to_dict(key) for key in keys]})


@router.post(
    "/keys", status_code=201, response_model=NewKeyAnswer, responses=refusals(400, 413, 415)
)
async def make_key(board: Board, caller: Caller, wanted: Annotated[MakeKey, Body()]) -> Response:
    """Make a key; it is shown once. A caller with a key makes none: sign in for it."""
    made = await board.identity.keys.make(
        wanted.name,
        scopes=wanted.scopes,
        lifetime=None if wanted.days is None else wanted.days * DAY,
        principal=caller,
    )
    return JsonResponse(key_to_dict(made.stored) | {"key": made.key}, 201)


@router.delete("/keys/{key}", response_model=KeyAnswer, responses=refusals(404))
async def revoke_key(
    board: Board,
    caller: Caller,
    key: Annotated[str, Path(min_length=1, max_length=64, description="Id of one of your keys.")],
) -> Response:
    """Revoke a key; it stays listed."""
    return JsonResponse(key_to_dict(await board.identity.keys.revoke(key, principal=caller)))
