"""`/session`: who you are, and signing in and out of the web console."""

import hmac
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Body, Request, Response

from pegboard.core.ports.authenticator import BrowserSession
from pegboard.core.principal import LOCAL, Principal
from pegboard.runtime import Pegboard
from pegboard.servers.http.browser_sessions import COOKIE, BrowserSessions
from pegboard.servers.http.dependencies import Board
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.models.requests import SignIn
from pegboard.servers.http.models.responses import SessionAnswer
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.problem_details import problem_response

router = APIRouter(route_class=JsonRoute, tags=["session"])


@router.get("/session", response_model=SessionAnswer, responses=refusals(503, open_to_all=True))
async def show_session(request: Request, board: Board) -> Response:
    """Show who you are; a server with a token says whether you are signed in."""
    return _answer(request, board, request.state.principal, request.state.session)


@router.post(
    "/session",
    response_model=SessionAnswer,
    responses=refusals(400, 401, 403, 413, 415, 422, 503, open_to_all=True),
    openapi_extra={"security": []},
)
async def sign_in(request: Request, board: Board, wanted: Annotated[SignIn, Body()]) -> Response:
    """Exchange the token for a cookie that scripts cannot read, below `/v1` only."""
    sessions: BrowserSessions | None = request.app.state.sessions
    if sessions is None:
        return _answer(request, board, request.state.principal, None)
    token = board.settings.token
    known = "" if token is None else token.get_secret_value()
    if not hmac.compare_digest(wanted.token.get_secret_value().encode(), known.encode()):
        return problem_response(401, "The token is not valid.")
    session = sessions.begin()
    response = _answer(request, board, LOCAL, session)
    _set_cookie(request, response, board, session.cookie, seconds=int(sessions.lifetime))
    return response


@router.delete("/session", status_code=204, responses=refusals(403, 503, open_to_all=True))
async def sign_out(request: Request, board: Board) -> Response:
    """End the session."""
    sessions: BrowserSessions | None = request.app.state.sessions
    session: BrowserSession | None = request.state.session
    if sessions is not None and session is not None and request.state.principal is not None:
        sessions.end(session)
    response = Response(status_code=204)
    _set_cookie(request, response, board, "", seconds=0)
    return response


def _answer(
    request: Request,
    board: Pegboard,
    principal: Principal | None,
    session: BrowserSession | None,
) -> Response:
    is_known = principal is not None
    return JsonResponse(
        {
            "signed_in": is_known,
            "sign_in_required": request.app.state.sessions is not None,
            "caller": principal.id if principal else "",
            "kind": principal.kind if principal else "",
            "tenant": principal.tenant if principal else "",
            "scopes": sorted(principal.scopes) if principal else [],
            "csrf": session.csrf if session else "",
            "expires_at": session.expires if session else None,
            "model_configured": is_known and board.has_model,
        }
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
