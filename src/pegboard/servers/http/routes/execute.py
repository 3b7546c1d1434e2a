"""`/execute`: call a tool."""

from typing import Annotated

from fastapi import APIRouter, Body, Header, Request, Response

from pegboard.features.runs.schemas import RunAnswer
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.execute_call import cancel_on_disconnect, execute_call
from pegboard.servers.http.json_body import CLIENT_CLOSED, JsonRoute
from pegboard.servers.http.models.requests import ExecuteRequest
from pegboard.servers.http.models.responses import ExecuteAnswer
from pegboard.servers.http.openapi import refusals

router = APIRouter(route_class=JsonRoute, tags=["calls"])

Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="The same key and input return the first outcome again.",
    ),
]


@router.post(
    "/execute",
    response_model=ExecuteAnswer,
    responses=refusals(400, 403, 404, 409, 413, 415, 429, 502, 504)
    | {202: {"model": RunAnswer, "description": "A run of this one call, with `async: true`."}},
)
async def execute(
    request: Request,
    board: Board,
    caller: Caller,
    wanted: Annotated[ExecuteRequest, Body()],
    key: Key = "",
) -> Response:
    """Call a tool. A failed call returns a problem with the code of its error."""
    answer = await cancel_on_disconnect(
        request.receive, execute_call(board, caller, wanted, key=key)
    )
    if answer is None:
        return Response(status_code=CLIENT_CLOSED)
    return answer.response()
