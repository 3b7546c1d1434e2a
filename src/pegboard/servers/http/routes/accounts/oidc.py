"""`/session/oidc`: signing in at an identity provider."""

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response

from pegboard.errors import AccessDenied, InvalidRequest, PegboardError, SignInRefused
from pegboard.features.identity.oidc_sign_in import FLOW_LIFETIME, OidcSignIns
from pegboard.runtime import Pegboard
from pegboard.servers.http.browser_pages import show_message
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.middleware.client_address import browser_client, limit_key
from pegboard.servers.http.models.responses import OidcAnswer
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.problem_details import http_status
from pegboard.servers.http.public_address import find_public_url
from pegboard.servers.http.routes.accounts.flow_cookies import FlowCookies
from pegboard.servers.http.routes.accounts.session import set_session_cookie

router = APIRouter(route_class=JsonRoute, tags=["session"])

_CALLBACK = "/v1/session/oidc/callback"
_COOKIES = FlowCookies("pegboard_oidc", _CALLBACK, seconds=FLOW_LIFETIME)


@router.get("/session/oidc", include_in_schema=False)  # for browsers, which follow it
async def begin_oidc(request: Request, board: Board) -> Response:
    """Go to the identity provider, to sign in there."""
    oidc, url = _find_oidc(board), find_public_url(board.settings)
    try:
        await board.identity.sign_ins.check_address(limit_key(request.scope))
        flow = await oidc.begin(f"{url}{_CALLBACK}")
    except PegboardError as error:
        return _show_problem(error, url)
    response = Response(status_code=303, headers={"Location": flow.url})
    _COOKIES.put(response, flow.cookie, state=flow.state, public_url=url)
    return response


@router.post("/session/oidc", response_model=OidcAnswer, responses=refusals(400, 503))
async def link_oidc(request: Request, board: Board, caller: Caller) -> Response:
    """Begin to link your account to the one that you have at the identity provider."""
    if not caller.user or caller.kind != "user":
        raise AccessDenied("the account", "only a person who has signed in links it")
    oidc, url = _find_oidc(board), find_public_url(board.settings)
    flow = await oidc.begin(
        f"{url}{_CALLBACK}", principal=caller, credential=request.state.credential
    )
    response = JsonResponse({"url": flow.url})
    _COOKIES.put(response, flow.cookie, state=flow.state, public_url=url)
    return response


@router.get("/session/oidc/callback", include_in_schema=False)
async def finish_oidc(request: Request, board: Board) -> Response:
    """Come back from the identity provider, signed in."""
    oidc, url = _find_oidc(board), find_public_url(board.settings)
    try:
        session = await oidc.finish(
            _COOKIES.read(request),
            _read_answer(request),
            client=browser_client(request.scope),
        )
    except PegboardError as error:
        response = _show_problem(error, url)
    else:
        response = Response(status_code=303, headers={"Location": f"{url}/ui/"})
        set_session_cookie(request, response, board, session)
    _COOKIES.remove(request, response, public_url=url)
    return response


def _read_answer(request: Request) -> Mapping[str, str]:
    names = list(request.query_params.keys())
    if len(names) != len(set(names)):
        raise SignInRefused("The identity provider's answer is not valid.")
    return dict(request.query_params)


def _show_problem(error: PegboardError, url: str) -> Response:
    """A page for the person, whom a link or the provider has sent here."""
    return show_message(
        "Not signed in", error.message, status=http_status(error), console=f"{url}/ui/"
    )


def _find_oidc(board: Pegboard) -> OidcSignIns:
    if board.identity.oidc is None:
        raise InvalidRequest("No identity provider is configured (PEGBOARD_OIDC_ISSUER).")
    return board.identity.oidc
