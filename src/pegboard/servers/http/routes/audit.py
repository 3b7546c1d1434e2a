"""`/audit`: the audit trail, and its verification."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from pegboard.features.audit.schemas import (
    AnchorFilter,
    AuditFilter,
    AuditList,
    AuditReportAnswer,
    anchor_of,
    record_to_dict,
    report_to_dict,
)
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.openapi import refusals

router = APIRouter(tags=["audit"])


@router.get("/audit", response_model=AuditList, responses=refusals())
async def list_audit(
    board: Board, caller: Caller, wanted: Annotated[AuditFilter, Query()]
) -> Response:
    """List the audit trail, oldest first."""
    records = await board.audit.records(
        after=wanted.after, limit=wanted.limit, kind=wanted.kind, principal=caller
    )
    more = len(records) == wanted.limit
    return JsonResponse(
        {
            "records": [record_to_dict(record) for record in records],
            "next_after": records[-1].sequence if more else None,
        }
    )


@router.get("/audit/verify", response_model=AuditReportAnswer, responses=refusals())
async def verify_audit(
    board: Board, caller: Caller, wanted: Annotated[AnchorFilter, Query()]
) -> Response:
    """Verify that no record was changed, removed or reordered; reports the first that was."""
    report = await board.audit.verify(anchor=anchor_of(wanted.anchor), principal=caller)
    return JsonResponse(report_to_dict(report))
