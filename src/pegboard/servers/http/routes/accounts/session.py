"""`/session`: who you are, and signing in and out of the web console."""

import hmac
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Body, Request, Response

from pegboard.core.ports.accounts.identity_store import User
from pegboard.core.ports.authenticator import (
    AuthenticatedCaller,
    BrowserSession,
    SentCredentials,
)
from pegboard.core.principal import LOCAL, Principal
from pegboard.features.identity.schemas import ActFor
from pegboard.runtime import Pegboard
from pegboard.servers.http.browser_sessions import COOKIE, BrowserSessions
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.middleware.client_address import browser_client, limit_key
from pegboard.servers.http.models.requests import (
    SignIn,
    SignInWithLink,
    SignInWithToken,
)
from pegboard.servers.http.models.responses import SessionAnswer
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.problem_details import problem_response

router = APIRouter(route_class=JsonRoute, tags=["session"])


@router.get("/session", response_model=SessionAnswer, responses=refusals(503, open_to_all=True))
async def show_session(request: Request, board: Board) -> Response:
    """Show who you are; a server with a token says whether you are signed in.

    From time to time a session gets a new cookie, and with it a new `csrf`.
    """
    session: BrowserSession | None = request.state.session
    if session is not None and board.identity.has_accounts:
        new = await board.identity.sign_ins.rotate(session)
        if new is not None:
            return await answer_signed_in(request, board, new)
    return await _answer(request, board, request.state.principal, session)


@router.post(
    "/session",
    response_model=SessionAnswer,
    responses=refusals(400, 401, 403, 404, 413, 415, 422, 429, 503, open_to_all=True),
    openapi_extra={"security": []},
)
async def sign_in(
    request: Request,
    board: Board,
    wanted: Annotated[SignIn, Body()],
) -> Response:
    """Exchange a name and password, or the token, for a cookie that scripts cannot read.

    The cookie is sent below `/v1` only. With a one-time link, the account gets the password first.
    """
    if isinstance(wanted, SignInWithToken):
        return _sign_in_with_token(request, board, wanted)
    client = browser_client(request.scope)
    password, identity = wanted.password.get_secret_value(), board.identity
    if isinstance(wanted, SignInWithLink):
        user = await identity.accounts.set_password(wanted.link.get_secret_value(), password)
        session = await identity.sign_ins.begin(user, client=client)
    else:
        address = limit_key(request.scope)
        session = await identity.sign_ins.sign_in(
            wanted.name, password, address=address, client=client
        )
    return await answer_signed_in(request, board, session)


@router.put(
    "/session",
    response_model=SessionAnswer,
    responses=refusals(400, 401, 403, 404, 413, 415, 422, 503, open_to_all=True),
    openapi_extra={"security": []},  # it takes a session and no token
)
async def act_for(
    request: Request, board: Board, caller: Caller, wanted: Annotated[ActFor, Body()]
) -> Response:
    """Choose the organisation that this session acts for.

    What it does is counted there and shared with it; what you may do stays the same.
    """
    session: BrowserSession | None = request.state.session
    if session is None or not caller.user:
        return problem_response(401, "Sign in first.")
    organisation = wanted.organisation
    await board.identity.sign_ins.act_for(session, organisation, principal=caller)
    found = await board.identity.callers.identify(SentCredentials(cookies=(session.cookie,)))
    now = found.principal if isinstance(found, AuthenticatedCaller) else None
    return await _answer(request, board, now, session)


@router.delete("/session", status_code=204, responses=refusals(403, 503, open_to_all=True))
async def sign_out(request: Request, board: Board) -> Response:
    """End the session."""
    sessions: BrowserSessions | None = request.app.state.sessions
    session: BrowserSession | None = request.state.session
    if session is not None and request.state.principal is not None:
        if board.identity.has_accounts:
            await board.identity.sign_ins.end(session)
        elif sessions is not None:
            sessions.end(session)
    response = Response(status_code=204)
    _set_cookie(request, response, board, "", seconds=0)
    return response


async def answer_signed_in(
    request: Request, board: Pegboard, session: BrowserSession, *, status: int = 200
) -> Response:
    """The answer to a person who has signed in, with the cookie."""
    found = await board.identity.callers.identify(SentCredentials(cookies=(session.cookie,)))
    principal = found.principal if isinstance(found, AuthenticatedCaller) else None
    response = await _answer(request, board, principal, session, status=status)
    set_session_cookie(request, response, board, session)
    return response


def set_session_cookie(
    request: Request, response: Response, board: Pegboard, session: BrowserSession
) -> None:
    """Let the browser keep a session until it expires."""
    seconds = int(session.expires - board.registry.environment.now())
    _set_cookie(request, response, board, session.cookie, seconds=seconds)


def _sign_in_with_token(request: Request, board: Pegboard, wanted: SignInWithToken) -> Response:
    sessions: BrowserSessions | None = request.app.state.sessions
    if board.identity.has_accounts:
        return problem_response(
            401,
            "This server has accounts now: sign in with a name and a password.",
            code="accounts_needed",
        )
    if sessions is None:
        return _describe(request, board, request.state.principal, None, None)
    token = board.settings.token
    known = "" if token is None else token.get_secret_value()
    if not hmac.compare_digest(wanted.token.get_secret_value().encode(), known.encode()):
        return problem_response(401, "The token is not valid.")
    session = sessions.begin()
    response = _describe(request, board, LOCAL, session, None)
    _set_cookie(request, response, board, session.cookie, seconds=int(sessions.lifetime))
    return response


async def _answer(
    request: Request,
    board: Pegboard,
    principal: Principal | None,
    session: BrowserSession | None,
    *,
    status: int = 200,
) -> Response:
    user = await board.identity.accounts.find(principal) if principal is not None else None
    return _describe(request, board, principal, session, user, status=status)


def _describe(
    request: Request,
    board: Pegboard,
    principal: Principal | None,
    session: BrowserSession | None,
    user: User | None,
    *,
    status: int = 200,
) -> Response:
    is_known = principal is not None
    return JsonResponse(
        {
            "signed_in": is_known,
            "sign_in_required": request.app.state.sessions is not None
            or board.identity.has_accounts,
            "accounts": board.identity.has_accounts,
            "identity_provider": board.identity.oidc is not None and board.identity.has_accounts,
            "caller": principal.id if principal else "",
            "handle": user.handle if user else "",
            "name": user.name if user else "",
            "kind": principal.kind if principal else "",
            "tenant": principal.tenant if principal else "",
            "organisations": sorted(principal.organisations) if principal else [],
            "scopes": sorted(principal.scopes) if principal else [],
            "csrf": session.csrf if session else "",
            "expires_at": session.expires if session else None,
            "model_configured": is_known and board.has_model,
        },
        status,
    )


def _set_cookie(
    request: Request, response: Response, board: Pegboard, value: str, *, seconds: int
) -> None:
    public = urlsplit(board.settings.public_url)
    response.set_cookie(
        COOKIE,
        value,
        max_age=seconds,
        path=f"{public.path.rstrip('/')}/v1",
        secure=(public.scheme or request.url.scheme) == "https",
        httponly=True,
        samesite="lax",
    )
