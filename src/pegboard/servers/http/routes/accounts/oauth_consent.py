"""`/oauth-requests`: what MCP clients ask a person for, and the person's decision."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Body, Response

from pegboard.features.identity.schemas import (
    DecidedRequest,
    DecideRequest,
    OpenRequest,
    RequestAnswer,
)
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.public_address import find_public_url

router = APIRouter(route_class=JsonRoute, tags=["people"])


@router.post(
    "/oauth-requests", response_model=RequestAnswer, responses=refusals(400, 404, 413, 415)
)
async def show_request(
    board: Board, caller: Caller, wanted: Annotated[OpenRequest, Body()]
) -> Response:
    """Show what a client asks you for."""
    given = wanted.request.get_secret_value()
    request, client = await board.identity.oauth.show(given, principal=caller)
    return JsonResponse(
        {
            "client": client.id,
            "name": client.name,
            "redirect": urlsplit(request.redirect).netloc or request.redirect.partition(":")[0],
            "scopes": list(request.scopes),
        }
    )


@router.post(
    "/oauth-requests/decision",
    response_model=DecidedRequest,
    responses=refusals(400, 404, 413, 415),
)
async def decide_request(
    board: Board, caller: Caller, wanted: Annotated[DecideRequest, Body()]
) -> Response:
    """Let a client call tools for you, or not; `url` leads back to it."""
    from pegboard.servers.mcp.oauth import build_redirect

    request, code = await board.identity.oauth.decide(
        wanted.request.get_secret_value(), allow=wanted.allow, principal=caller
    )
    issuer = find_public_url(board.settings)
    return JsonResponse({"url": build_redirect(request, code, issuer)})
