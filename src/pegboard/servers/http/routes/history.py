"""`/history`: who called what, when, and how it ended."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import StreamingResponse
from msgspec import structs
from starlette.exceptions import HTTPException

from pegboard.core.ports.accounts.identity_store import User
from pegboard.core.ports.call_stores import HistoryPage, HistoryQuery, TotalsQuery
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest
from pegboard.features.audit.call_export import MEDIA_TYPES, export_calls
from pegboard.features.permissions import (
    AUDIT_SCOPE,
    VisibleOwners,
    check_may_read_audit,
    find_visible_owners,
)
from pegboard.runtime import Pegboard
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.models.record_responses import CallList, CallTotalsAnswer
from pegboard.servers.http.models.requests import (
    MAX_CALLS,
    CallFilter,
    ExportFilter,
    HistoryFilter,
    TotalsFilter,
)
from pegboard.servers.http.openapi import refusals

router = APIRouter(tags=["board"])

_HOUR = 3600.0
_SLOTS = 24
_EXPORT = {media: {"schema": {"type": "string"}} for media in MEDIA_TYPES.values()}


@router.get("/history", response_model=CallList, responses=refusals(404))
async def list_calls(
    board: Board, caller: Caller, wanted: Annotated[HistoryFilter, Query()]
) -> Response:
    """List calls, newest first: your own, with `audit:read` those of your tenant."""
    query = await _find_query(board, caller, wanted)
    if query is None:
        return JsonResponse({"calls": [], "next_cursor": None, "names": {}, "handles": {}})
    page = await _read(board, structs.replace(query, limit=wanted.limit, cursor=wanted.cursor))
    people = await _read_people(board, caller, (row["principal"] for row in page.calls))
    return JsonResponse(
        {
            "calls": list(page.calls),
            "next_cursor": page.next_cursor or None,
            "names": {id_: person.name for id_, person in people.items()},
            "handles": {id_: person.handle for id_, person in people.items()},
        }
    )


@router.get("/history/totals", response_model=CallTotalsAnswer, responses=refusals())
async def sum_calls(
    board: Board, caller: Caller, wanted: Annotated[TotalsFilter, Query()]
) -> Response:
    """Count the calls of the last hours and how long they took: your own, or those of your tenant.

    Those of the tenant are counted for a caller with the scope `audit:read`.
    """
    until = board.registry.environment.now()
    owners = find_visible_owners(caller, AUDIT_SCOPE)
    assert owners is not None  # noqa: S101 - nobody in particular is asked for
    since = until - wanted.hours * _HOUR
    totals = await board.history.totals(
        TotalsQuery(
            since=since,
            until=until,
            slots=_SLOTS,
            tool=wanted.tool,
            source=wanted.source,
            principal=owners.principal,
            tenant=owners.tenant,
        )
    )
    return JsonResponse(
        {
            "since": since,
            "until": until,
            "calls": totals.calls,
            "failed": totals.failed,
            "p50_ms": totals.p50_ms,
            "p95_ms": totals.p95_ms,
            "slots": [{"calls": calls, "failed": failed} for calls, failed in totals.slots],
        }
    )


@router.get(
    "/history/export",
    response_class=Response,
    responses=refusals() | {200: {"description": "The calls.", "content": _EXPORT}},
)
async def export_history(
    board: Board,
    caller: Caller,
    wanted: Annotated[ExportFilter, Query()],
) -> Response:
    """Export calls, newest first: those that `GET /history` lists with the same filters."""
    query = await _find_query(board, caller, wanted)
    first = HistoryPage(calls=()) if query is None else await _read(board, query)

    async def read(cursor: str) -> HistoryPage:
        assert query is not None  # noqa: S101 - without it there is one page
        return await _read(board, structs.replace(query, cursor=cursor))

    return StreamingResponse(
        export_calls(
            first,
            read=read,
            read_people=lambda ids: _read_people(board, caller, ids),
            format=wanted.format,
        ),
        media_type=MEDIA_TYPES[wanted.format],
        headers=attach(board, "calls", wanted.format),
    )


@router.get("/history/errors/{error_id}", response_model=dict[str, Any], responses=refusals(404))
async def show_error(
    board: Board,
    caller: Caller,
    error_id: Annotated[
        str, Path(min_length=1, max_length=128, description="`error_id` of a failed call.")
    ],
) -> Response:
    """Show the operator's detail behind an error id, which callers of the tool do not see."""
    check_may_read_audit(caller)
    detail = await board.history.detail(error_id)
    if detail is None:
        raise HTTPException(404, f"There is no error {error_id[:100]}.")
    return JsonResponse(detail)


def attach(board: Pegboard, subject: str, ending: str) -> dict[str, str]:
    """The headers of an export, which a browser stores as a file."""
    day = datetime.fromtimestamp(board.registry.environment.now(), UTC).date().isoformat()
    return {"Content-Disposition": f'attachment; filename="pegboard-{subject}-{day}.{ending}"'}


async def _find_query(
    board: Pegboard, caller: Principal, wanted: CallFilter
) -> HistoryQuery | None:
    """The query for what the caller asks for and may see; None where that is nothing."""
    asked = wanted.principal
    if wanted.person:
        people = await board.identity.accounts.list(principal=caller)
        found = [user.id for user in people if wanted.person in {user.handle, user.email}]
        if not found or asked not in {"", found[0]}:
            return None
        asked = found[0]
    owners: VisibleOwners | None = find_visible_owners(caller, AUDIT_SCOPE, asked=asked)
    if owners is None:
        return None
    filters = wanted.model_dump(include=set(CallFilter.model_fields) - {"person"})
    query = HistoryQuery(**filters, limit=MAX_CALLS)
    return structs.replace(query, principal=owners.principal, tenant=owners.tenant)


async def _read(board: Pegboard, query: HistoryQuery) -> HistoryPage:
    try:
        return await board.history.calls(query)
    except InvalidRequest as error:  # the rest of the query is valid
        raise HTTPException(404, "No page has this cursor.") from error


async def _read_people(board: Pegboard, caller: Principal, ids: Iterable[str]) -> dict[str, User]:
    return await board.identity.accounts.read_people(ids) if caller.user else {}
