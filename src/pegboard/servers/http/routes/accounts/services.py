"""`/organisations/{organisation}/services`: service accounts, and their keys."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Response

from pegboard.features.identity.schemas import (
    KeyAnswer,
    KeyList,
    MakeKey,
    MakeService,
    NewKeyAnswer,
    PersonAnswer,
    key_to_dict,
    person_to_dict,
)
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.routes.accounts.keys import DAY
from pegboard.servers.http.routes.accounts.organisations import Organisation

router = APIRouter(route_class=JsonRoute, tags=["people"])

_PATH = "/organisations/{organisation}/services"
Service = Annotated[
    str, Path(min_length=1, max_length=64, description="Handle of a service account.")
]
Key = Annotated[str, Path(min_length=1, max_length=64, description="Id of one of its keys.")]


@router.post(
    _PATH,
    status_code=201,
    response_model=PersonAnswer,
    responses=refusals(400, 404, 413, 415, 429),
)
async def make_service(
    board: Board, caller: Caller, organisation: Organisation, wanted: Annotated[MakeService, Body()]
) -> Response:
    """Make a service account, a member of the organisation that signs in with keys alone."""
    made = await board.identity.services.make(
        organisation, wanted.handle, name=wanted.name, roles=wanted.roles, principal=caller
    )
    return JsonResponse(person_to_dict(made), 201)


@router.get(f"{_PATH}/{{service}}/keys", response_model=KeyList, responses=refusals(404))
async def list_service_keys(
    board: Board, caller: Caller, organisation: Organisation, service: Service
) -> Response:
    """List the keys of a service account, revoked ones included."""
    keys = await board.identity.services.list_keys(organisation, service, principal=caller)
    return JsonResponse({"keys": [key_to_dict(key) for key in keys]})


@router.post(
    f"{_PATH}/{{service}}/keys",
    status_code=201,
    response_model=NewKeyAnswer,
    responses=refusals(400, 404, 413, 415),
)
async def make_service_key(
    board: Board,
    caller: Caller,
    organisation: Organisation,
    service: Service,
    wanted: Annotated[MakeKey, Body()],
) -> Response:
    """Make a key of a service account; it is shown once."""
    made = await board.identity.services.make_key(
        organisation,
        service,
        wanted.name,
        scopes=wanted.scopes,
        lifetime=None if wanted.days is None else wanted.days * DAY,
        principal=caller,
    )
    return JsonResponse(key_to_dict(made.stored) | {"key": made.key}, 201)


@router.delete(
    f"{_PATH}/{{service}}/keys/{{key}}", response_model=KeyAnswer, responses=refusals(404)
)
async def revoke_service_key(
    board: Board, caller: Caller, organisation: Organisation, service: Service, key: Key
) -> Response:
    """Revoke a key of a service account; it stays listed."""
    revoked = await board.identity.services.revoke_key(organisation, service, key, principal=caller)
    return JsonResponse(key_to_dict(revoked))
