"""`/execute`: call a tool."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Request, Response
from pydantic import ValidationError

from pegboard.features.runs.schemas import RunAnswer
from pegboard.servers.http.dependencies import get_board, get_caller
from pegboard.servers.http.execute_call import cancel_on_disconnect, execute_call
from pegboard.servers.http.json_body import CLIENT_CLOSED, JsonRoute
from pegboard.servers.http.models.requests import ExecuteRequest
from pegboard.servers.http.models.responses import ExecuteAnswer
from pegboard.servers.http.openapi import refusals


class _ExecuteRoute(JsonRoute):
    """A route that calls `_execute` itself: FastAPI's way there costs as much as a short call."""

    async def answer(self, request: Request, value: Any) -> Response | None:
        """The answer to a valid request; FastAPI describes what is wrong with another one."""
        if "idempotency-key" in request.headers:
            return None
        try:
            wanted = ExecuteRequest.model_validate(value)
        except ValidationError:
            return None
        return await _execute(request, wanted)


router = APIRouter(route_class=_ExecuteRoute, tags=["calls"])

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
    wanted: Annotated[ExecuteRequest, Body()],
    key: Key = "",
) -> Response:
    """Call a tool. A failed call returns a problem with the code of its error."""
    return await _execute(request, wanted, key)


async def _execute(request: Request, wanted: ExecuteRequest, key: str = "") -> Response:
    answer = await cancel_on_disconnect(
        request.receive,
        execute_call(get_board(request), get_caller(request), wanted, key=key),
    )
    if answer is None:
        return Response(status_code=CLIENT_CLOSED)
    return answer.response()
