"""`/quotas`: how much accounts and organisations may use, and what they have used."""

from typing import Annotated

from fastapi import APIRouter, Body, Query, Response

from pegboard.core.ports.accounts.quota_store import QuotaSetter
from pegboard.features.identity.quota_schemas import (
    QuotaAnswer,
    QuotaList,
    QuotaMeasure,
    QuotaOrganisation,
    QuotaPerson,
    QuotaWindow,
    SetQuota,
    quota_to_dict,
    quotas_to_dict,
)
from pegboard.features.identity.quotas import QuotaSubject
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals

router = APIRouter(route_class=JsonRoute, tags=["people"])


@router.get("/quotas", response_model=QuotaList, responses=refusals())
async def list_quotas(board: Board, caller: Caller) -> Response:
    """List the quotas that hold for you, and those that you may change."""
    return JsonResponse(quotas_to_dict(await board.identity.quotas.list(principal=caller)))


@router.put("/quotas", response_model=QuotaAnswer, responses=refusals(400, 404, 413, 415))
async def set_quota(board: Board, caller: Caller, wanted: Annotated[SetQuota, Body()]) -> Response:
    """Set a quota: operators any, administrators those of their organisation and its members."""
    subject = QuotaSubject(**wanted.model_dump(exclude={"limit"}))
    done = await board.identity.quotas.put(subject, wanted.limit, principal=caller)
    return JsonResponse(quota_to_dict(done))


@router.delete("/quotas", status_code=204, responses=refusals(400, 404))
async def remove_quota(
    board: Board,
    caller: Caller,
    measure: Annotated[QuotaMeasure, Query()],
    window: Annotated[QuotaWindow, Query()],
    person: Annotated[QuotaPerson, Query()] = "",
    organisation: Annotated[QuotaOrganisation, Query()] = "",
    set_by: Annotated[
        QuotaSetter | None,
        Query(description="By which right it was set; without it, by yours if there is one."),
    ] = None,
) -> Response:
    """Remove a quota that was set; operators those of administrators, too.

    The default of the board file holds again.
    """
    subject = QuotaSubject(measure=measure, window=window, person=person, organisation=organisation)
    await board.identity.quotas.remove(subject, principal=caller, setter=set_by)
    return Response(status_code=204)
