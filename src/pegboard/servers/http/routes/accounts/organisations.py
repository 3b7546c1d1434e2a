"""`/organisations`: organisations and their members."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Response

from pegboard.features.identity.schemas import (
    ApproveMember,
    DefineRole,
    FoundOrganisation,
    MemberAnswer,
    MemberList,
    OrganisationAnswer,
    OrganisationList,
    RoleAnswer,
    RoleList,
    member_to_dict,
    organisation_to_dict,
    organisations_to_dict,
    role_to_dict,
)
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.routes.accounts.people import Person

router = APIRouter(route_class=JsonRoute, tags=["people"])

Organisation = Annotated[
    str, Path(min_length=1, max_length=64, description="Handle of an organisation.")
]

RoleName = Annotated[str, Path(min_length=1, max_length=64, description="Name of a role.")]


@router.get("/organisations", response_model=OrganisationList, responses=refusals())
async def list_organisations(board: Board, caller: Caller) -> Response:
    """List your organisations; operators see all."""
    organisations = board.identity.organisations
    found = await organisations.list(principal=caller)
    waiting = await organisations.count_waiting(principal=caller)
    return JsonResponse(organisations_to_dict(found, caller, waiting))


@router.post(
    "/organisations",
    status_code=201,
    response_model=OrganisationAnswer,
    responses=refusals(400, 413, 415),
)
async def create_organisation(
    board: Board, caller: Caller, wanted: Annotated[FoundOrganisation, Body()]
) -> Response:
    """Found an organisation, as its administrator and editor."""
    made = await board.identity.organisations.create(
        wanted.handle, title=wanted.title, principal=caller
    )
    return JsonResponse(organisation_to_dict(made, caller), 201)


@router.get(
    "/organisations/{organisation}/members", response_model=MemberList, responses=refusals(404)
)
async def list_members(board: Board, caller: Caller, organisation: Organisation) -> Response:
    """List the members; administrators see who waits as well."""
    members = await board.identity.organisations.list_members(organisation, principal=caller)
    return JsonResponse({"members": [member_to_dict(member) for member in members]})


@router.post("/organisations/{organisation}/members", status_code=204, responses=refusals(429))
async def ask_to_join(board: Board, caller: Caller, organisation: Organisation) -> Response:
    """Ask to be let in; the answer is the same whether or not there is such an organisation."""
    await board.identity.organisations.ask_to_join(organisation, principal=caller)
    return Response(status_code=204)


@router.put(
    "/organisations/{organisation}/members/{person}",
    response_model=MemberAnswer,
    responses=refusals(400, 404, 413, 415),
)
async def approve_member(
    board: Board,
    caller: Caller,
    organisation: Organisation,
    person: Person,
    wanted: Annotated[ApproveMember, Body()],
) -> Response:
    """Let in a person who waits, or give a member other roles."""
    member = await board.identity.organisations.approve(
        organisation, person, wanted.roles, principal=caller
    )
    return JsonResponse(member_to_dict(member))


@router.get("/organisations/{organisation}/roles", response_model=RoleList, responses=refusals(404))
async def list_roles(board: Board, caller: Caller, organisation: Organisation) -> Response:
    """List the roles that the organisation has defined, beside those that each one has."""
    found = await board.identity.roles.list(organisation, principal=caller)
    return JsonResponse({"roles": [role_to_dict(role) for role in found]})


@router.put(
    "/organisations/{organisation}/roles/{role}",
    response_model=RoleAnswer,
    responses=refusals(400, 404, 413, 415),
)
async def define_role(
    board: Board,
    caller: Caller,
    organisation: Organisation,
    role: RoleName,
    wanted: Annotated[DefineRole, Body()],
) -> Response:
    """Define a role, or define it anew; its members have the new rights at once."""
    defined = await board.identity.roles.put(
        organisation, role, wanted.levels, title=wanted.title, principal=caller
    )
    return JsonResponse(role_to_dict(defined))


@router.delete(
    "/organisations/{organisation}/roles/{role}", status_code=204, responses=refusals(404)
)
async def remove_role(
    board: Board, caller: Caller, organisation: Organisation, role: RoleName
) -> Response:
    """Remove a role; its members lose what it gave them at once."""
    await board.identity.roles.remove(organisation, role, principal=caller)
    return Response(status_code=204)


@router.delete(
    "/organisations/{organisation}/members/{person}",
    status_code=204,
    responses=refusals(400, 404),
)
async def remove_member(
    board: Board, caller: Caller, organisation: Organisation, person: Person
) -> Response:
    """Remove a member, or turn down a person who waits; everybody may leave."""
    await board.identity.organisations.remove(organisation, person, principal=caller)
    return Response(status_code=204)
