"""`/ws/tickets`: tickets that web pages connect to `/ws` with."""

from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from pegboard.servers.http.dependencies import Caller
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.models.responses import TicketAnswer
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.websocket.tickets import Tickets

router = APIRouter(tags=["websocket"])

Origin = Annotated[str | None, Header(include_in_schema=False)]


@router.post("/ws/tickets", status_code=201, response_model=TicketAnswer, responses=refusals())
async def give_ticket(request: Request, caller: Caller, origin: Origin = None) -> Response:
    """Get a ticket for one connection to `/ws?ticket=...`.

    A browser cannot send an `Authorization` header with a WebSocket. The ticket replaces it: it is
    valid once, for some seconds.
    """
    tickets: Tickets = request.app.state.tickets
    ticket = tickets.give(caller, origin=origin)
    return JsonResponse({"ticket": ticket, "expires_in": tickets.lifetime}, 201)
