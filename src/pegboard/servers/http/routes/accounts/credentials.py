"""`/credentials`: the credentials of the caller, and accounts that it connects by consent."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Request, Response
from starlette.responses import RedirectResponse

from pegboard.core.credential import DEFAULT_NAME
from pegboard.core.ports.authenticator import BrowserSession
from pegboard.errors import PegboardError, SignInRefused
from pegboard.features.credentials.connections import CALLBACK, LIFETIME, StartedConnection
from pegboard.features.credentials.schemas import (
    AddCredential,
    ChangeCredential,
    CredentialAnswer,
    CredentialList,
    RotationAnswer,
    StartConnection,
    StartedConnectionAnswer,
    credential_to_dict,
)
from pegboard.runtime import Pegboard
from pegboard.servers.http.browser_pages import show_message
from pegboard.servers.http.dependencies import Board, Caller, Visitor
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.problem_details import http_status
from pegboard.servers.http.routes.accounts.flow_cookies import FlowCookies

router = APIRouter(route_class=JsonRoute, tags=["credentials"])

_COOKIES = FlowCookies("pegboard_oauth", CALLBACK, seconds=LIFETIME)
Id = Annotated[str, Path(min_length=1, max_length=64, description="Id of one of your credentials.")]
Source = Annotated[str, Query(max_length=64, description="The name of the source.")]


@router.get("/credentials", response_model=CredentialList, responses=refusals())
async def list_credentials(board: Board, caller: Caller, source: Source = "") -> Response:
    """List your credentials, without their values."""
    found = await board.credentials.list(source=source, principal=caller)
    return JsonResponse({"credentials": [credential_to_dict(item) for item in found]})


@router.post(
    "/credentials",
    status_code=201,
    response_model=CredentialAnswer,
    responses=refusals(400, 413, 415),
)
async def add_credential(
    board: Board, caller: Caller, wanted: Annotated[AddCredential, Body()]
) -> Response:
    """Store a credential for a source that takes those of its callers.

    Its value is encrypted, sent to that source alone, and never returned.
    """
    added = await board.credentials.add(wanted.to_new(), principal=caller)
    return JsonResponse(credential_to_dict(added), 201)


@router.post("/credentials/rotate", response_model=RotationAnswer, responses=refusals())
async def rotate_master_key(board: Board, caller: Caller) -> Response:
    """Encrypt all credentials with the newest master key; for operators."""
    return JsonResponse({"rotated": await board.credentials.rotate(principal=caller)})


@router.patch(
    "/credentials/{credential}",
    response_model=CredentialAnswer,
    responses=refusals(400, 404, 413, 415),
)
async def change_credential(
    board: Board, caller: Caller, credential: Id, wanted: Annotated[ChangeCredential, Body()]
) -> Response:
    """Rename a credential, share it, make it the default, or give it a new value."""
    changed = await board.credentials.change(credential, wanted.to_change(), principal=caller)
    return JsonResponse(credential_to_dict(changed))


@router.delete(
    "/credentials/{credential}", response_model=CredentialAnswer, responses=refusals(404)
)
async def remove_credential(board: Board, caller: Caller, credential: Id) -> Response:
    """Remove a credential: your next call acts without it."""
    return JsonResponse(
        credential_to_dict(await board.credentials.remove(credential, principal=caller))
    )


@router.post(
    "/credentials/oauth/start",
    response_model=StartedConnectionAnswer,
    responses=refusals(400, 413, 415),
)
async def start_connection(
    request: Request, board: Board, caller: Caller, wanted: Annotated[StartConnection, Body()]
) -> Response:
    """Begin to connect an account by consent: open the `url` in the same browser."""
    started = await board.credentials.connections.start(
        wanted.source,
        name=wanted.name,
        shared=wanted.shared,
        session=_session_of(request),
        principal=caller,
    )
    response = JsonResponse({"url": started.url})
    _put_cookie(board, response, started)
    return response


@router.get("/credentials/oauth/connect", include_in_schema=False)  # a page for browsers
async def open_connection(
    request: Request,
    board: Board,
    caller: Visitor,
    source: Source,
    owner: Annotated[str, Query(alias="for", max_length=200, description="Whose link it is.")] = "",
    name: Annotated[str, Query(max_length=100, description="The account.")] = DEFAULT_NAME,
) -> Response:
    """Begin to connect an account, by a link that a call has given to its caller.

    A person who has not signed in does so in the console, which leads back here.
    """
    if caller is None:  # relative: a proxy may have removed a prefix
        return RedirectResponse(f"../../../ui/#connect={request.url.query}", 303)
    try:
        started = await board.credentials.connections.start(
            source, name=name, owner=owner, session=_session_of(request), principal=caller
        )
    except PegboardError as error:
        return show_message("Not connected", error.message, status=http_status(error))
    response = RedirectResponse(started.url, 303, headers={"Referrer-Policy": "no-referrer"})
    _put_cookie(board, response, started)
    return response


@router.get("/credentials/oauth/client/{source}", include_in_schema=False)  # for their servers
async def read_client_document(
    board: Board, source: Annotated[str, Path(max_length=64, pattern=r"^[a-zA-Z0-9_-]+$")]
) -> Response:
    """Read our client document (CIMD) for a source, which is the same for every caller."""
    found = board.credentials.connections.describe_client(source)
    return JsonResponse(found, headers={"Cache-Control": "public, max-age=3600"})


@router.get("/credentials/oauth/callback", include_in_schema=False)  # pages for browsers
@router.get("/credentials/oauth/callback/{source}", include_in_schema=False)
async def finish_connection(request: Request, board: Board, caller: Visitor) -> Response:
    """Where the authorization server sends the browser after the consent."""
    try:
        if caller is None:
            raise SignInRefused(
                "You are not signed in any more. Sign in, then open the link again."
            )
        about = await board.credentials.connections.finish(
            dict(request.query_params),
            state=_COOKIES.read(request),
            session=_session_of(request),
            principal=caller,
        )
    except PegboardError as error:
        response = show_message("Not connected", error.message, status=http_status(error))
    else:
        who = f" as {about.identity}" if about.identity else ""
        text = f"'{about.source}' is connected{who}. Calls that waited for it go on."
        response = show_message("Connected", f"{text} You may close this page.")
    _COOKIES.remove(request, response, public_url=board.settings.public_url)
    return response


def _session_of(request: Request) -> str:
    """What a session keeps while its cookies are replaced; without accounts that is its cookie."""
    credential: str = request.state.credential
    session: BrowserSession | None = request.state.session
    return credential or ("" if session is None else session.cookie)


def _put_cookie(board: Pegboard, response: Response, started: StartedConnection) -> None:
    public_url = board.settings.public_url
    _COOKIES.put(response, started.state, state=started.nonce, public_url=public_url)
