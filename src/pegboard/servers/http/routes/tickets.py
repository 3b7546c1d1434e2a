"""`/ws/tickets`: tickets that web pages connect to `/ws` with."""

from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from pegboard.features.identity.tickets import LIFETIME
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.models.responses import TicketAnswer
from pegboard.servers.http.openapi import refusals

router = APIRouter(tags=["websocket"])

Origin = Annotated[str | None, Header(include_in_schema=False)]


@router.post("/ws/tickets", status_code=201, response_model=TicketAnswer, responses=refusals())
async def give_ticket(
    request: Request, board: Board, caller: Caller, origin: Origin = None
) -> Response:
    """Get a ticket for one connection to `/ws?ticket=...`.

    A browser cannot send an `Authorization` header with a WebSocket. The ticket replaces it: it is
    valid once, for some seconds, on every server that shares the database.
    """
    credential: str = request.state.credential
    ticket = await board.identity.tickets.give(caller, credential, origin=origin)
    return JsonResponse({"ticket": ticket, "expires_in": LIFETIME}, 201)
