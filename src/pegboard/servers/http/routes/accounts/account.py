"""`/account`: your own account, and the browsers in which you are signed in."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Request, Response

from pegboard.core.ports.authenticator import BrowserSession
from pegboard.errors import AccessDenied
from pegboard.features.identity.account_schemas import (
    AccountAnswer,
    ChangeAccount,
    SessionList,
    account_to_dict,
    session_to_dict,
)
from pegboard.features.identity.own_account import NewPassword
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.middleware.client_address import limit_key
from pegboard.servers.http.openapi import refusals

router = APIRouter(route_class=JsonRoute, tags=["people"])


@router.get("/account", response_model=AccountAnswer, responses=refusals(404))
async def show_account(board: Board, caller: Caller) -> Response:
    """Show your own account."""
    return JsonResponse(account_to_dict(await board.identity.own.show(principal=caller)))


@router.patch("/account", response_model=AccountAnswer, responses=refusals(400, 404, 413, 415, 429))
async def change_account(
    request: Request, board: Board, caller: Caller, wanted: Annotated[ChangeAccount, Body()]
) -> Response:
    """Change your name or your password; a new password ends your other sessions."""
    own = board.identity.own
    user = await own.show(principal=caller)
    if wanted.new_password is not None and wanted.current_password is not None:
        user = await own.change_password(
            NewPassword(
                current=wanted.current_password.get_secret_value(),
                new=wanted.new_password.get_secret_value(),
            ),
            session=_check_session(request),
            address=limit_key(request.scope),
            principal=caller,
        )
    if wanted.name is not None:
        user = await own.rename(wanted.name, principal=caller)
    return JsonResponse(account_to_dict(user))


@router.get("/account/sessions", response_model=SessionList, responses=refusals(404))
async def list_sessions(request: Request, board: Board, caller: Caller) -> Response:
    """List the browsers in which you are signed in, the newest first."""
    session: BrowserSession | None = request.state.session
    found = await board.identity.own.list_sessions(session=session, principal=caller)
    return JsonResponse({"sessions": [session_to_dict(item) for item in found]})


@router.delete("/account/sessions", status_code=204, responses=refusals(404))
async def end_other_sessions(request: Request, board: Board, caller: Caller) -> Response:
    """Sign out of every browser but this one; with a key, of every browser."""
    session: BrowserSession | None = request.state.session
    await board.identity.own.end_other_sessions(session=session, principal=caller)
    return Response(status_code=204)


@router.delete("/account/sessions/{session}", status_code=204, responses=refusals(404))
async def end_session(
    board: Board,
    caller: Caller,
    session: Annotated[str, Path(min_length=1, max_length=64, description="Id of the session.")],
) -> Response:
    """Sign out of one browser."""
    await board.identity.own.end_session(session, principal=caller)
    return Response(status_code=204)


def _check_session(request: Request) -> BrowserSession:
    session: BrowserSession | None = request.state.session
    if session is None:
        raise AccessDenied("your account", "sign in for this: a key changes no account")
    return session
