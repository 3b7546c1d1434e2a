"""`/people`: accounts, and the one-time links that make them."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Request, Response

from pegboard.features.identity.accounts import LinkRequest, NewAccount, PersonChange
from pegboard.features.identity.schemas import (
    ChangePerson,
    Join,
    LinkAnswer,
    MakeLink,
    OpenedLink,
    OpenLink,
    PersonAnswer,
    PersonList,
    describe_link,
    link_to_dict,
    person_to_dict,
)
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.middleware.client_address import browser_client
from pegboard.servers.http.models.responses import SessionAnswer
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.routes.accounts.session import answer_signed_in

router = APIRouter(route_class=JsonRoute, tags=["people"])

Person = Annotated[
    str, Path(min_length=1, max_length=254, description="A handle, or an e-mail address.")
]


@router.get("/people", response_model=PersonList, responses=refusals())
async def list_people(board: Board, caller: Caller) -> Response:
    """List the people that you may see: operators see all, others those of their organisations."""
    people = await board.identity.accounts.list(principal=caller)
    return JsonResponse({"people": [person_to_dict(user) for user in people]})


@router.post(
    "/people/links",
    status_code=201,
    response_model=LinkAnswer,
    responses=refusals(400, 404, 413, 415),
)
async def make_link(board: Board, caller: Caller, wanted: Annotated[MakeLink, Body()]) -> Response:
    """Make a one-time link: for the first account, an invitation, or a new password.

    It is valid for a day.
    """
    request = LinkRequest(
        person=wanted.person, organisation=wanted.organisation, roles=wanted.roles
    )
    new = await board.identity.accounts.make_link(request, principal=caller)
    return JsonResponse(link_to_dict(new, public_url=board.settings.public_url), 201)


@router.post(
    "/people/link",
    response_model=OpenedLink,
    responses=refusals(400, 403, 404, 413, 415, 422, 503, open_to_all=True),
    openapi_extra={"security": []},
)
async def read_link(board: Board, wanted: Annotated[OpenLink, Body()]) -> Response:
    """Show what a one-time link is for; it can still be used afterwards."""
    opened = await board.identity.accounts.read_link(wanted.link.get_secret_value())
    return JsonResponse(describe_link(*opened))


@router.post(
    "/people/join",
    status_code=201,
    response_model=SessionAnswer,
    responses=refusals(400, 403, 404, 413, 415, 422, 429, 503, open_to_all=True),
    openapi_extra={"security": []},
)
async def join(request: Request, board: Board, wanted: Annotated[Join, Body()]) -> Response:
    """Make an account with a one-time link, and sign in."""
    account = NewAccount(
        link=wanted.link.get_secret_value(),
        handle=wanted.handle,
        password=wanted.password.get_secret_value(),
        name=wanted.name,
        email=wanted.email,
        organisation=wanted.organisation,
        organisation_title=wanted.organisation_title,
    )
    user = await board.identity.accounts.join(account)
    session = await board.identity.sign_ins.begin(user, client=browser_client(request.scope))
    return await answer_signed_in(request, board, session, status=201)


@router.patch(
    "/people/{person}", response_model=PersonAnswer, responses=refusals(400, 404, 413, 415)
)
async def change_person(
    board: Board, caller: Caller, person: Person, wanted: Annotated[ChangePerson, Body()]
) -> Response:
    """Disable a person or enable one again; name an operator or take that back.

    Sessions, keys, streams and runs of a disabled person end on every server within a second.
    """
    change = PersonChange(disabled=wanted.disabled, operator=wanted.operator)
    changed = await board.identity.accounts.change(person, change, principal=caller)
    return JsonResponse(person_to_dict(changed))
