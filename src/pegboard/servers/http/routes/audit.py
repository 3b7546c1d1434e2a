"""`/audit`: the audit trail, its export, and its verification."""

import json
from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from pegboard.core.ports.audit_store import AuditRecord
from pegboard.features.audit.call_export import JSON_LINES
from pegboard.features.audit.schemas import (
    AnchorFilter,
    AuditFilter,
    AuditList,
    AuditReportAnswer,
    actors_of,
    anchor_of,
    record_to_dict,
    report_to_dict,
)
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.routes.history import attach

router = APIRouter(tags=["audit"])

_PAGE = 1_000


@router.get("/audit", response_model=AuditList, responses=refusals())
async def list_audit(
    board: Board, caller: Caller, wanted: Annotated[AuditFilter, Query()]
) -> Response:
    """List the audit trail."""
    newest_first = wanted.order == "newest"
    records = await board.audit.records(
        after=wanted.after,
        before=wanted.before,
        limit=wanted.limit,
        kind=wanted.kind,
        newest_first=newest_first,
        principal=caller,
    )
    following = records[-1].sequence if len(records) == wanted.limit else None
    accounts = board.identity.accounts
    people = await accounts.read_people(actors_of(records)) if caller.user else {}
    return JsonResponse(
        {
            "records": [record_to_dict(record) for record in records],
            "next_after": None if newest_first else following,
            "next_before": following if newest_first else None,
            "names": {id_: person.name for id_, person in people.items()},
            "handles": {id_: person.handle for id_, person in people.items()},
        }
    )


@router.get(
    "/audit/export",
    response_class=Response,
    responses=refusals() | {200: {"description": "A record a line.", "content": {JSON_LINES: {}}}},
)
async def export_audit(board: Board, caller: Caller) -> Response:
    """Export the audit trail that you may read, oldest first, as a line of JSON for each record."""
    first = await board.audit.records(limit=_PAGE, principal=caller)

    async def write() -> AsyncGenerator[str]:
        records = first
        while records:
            yield "".join(map(_to_line, records))
            after = records[-1].sequence
            records = await board.audit.records(after=after, limit=_PAGE, principal=caller)

    return StreamingResponse(
        write(), media_type=JSON_LINES, headers=attach(board, "audit", "jsonl")
    )


@router.get("/audit/verify", response_model=AuditReportAnswer, responses=refusals())
async def verify_audit(
    board: Board, caller: Caller, wanted: Annotated[AnchorFilter, Query()]
) -> Response:
    """Verify that no record was changed, removed or reordered; reports the first that was."""
    report = await board.audit.verify(anchor=anchor_of(wanted.anchor), principal=caller)
    return JsonResponse(report_to_dict(report))


def _to_line(record: AuditRecord) -> str:
    return json.dumps(record_to_dict(record)) + "\n"
