"""`/knowledge/{base}/documents/{document}/...`: what changed in a document, and who cites it."""

from typing import Annotated

from fastapi import APIRouter, Body, Query, Response

from pegboard.features.knowledge.document_changes import compare_revisions
from pegboard.features.knowledge.history_schemas import (
    ChangesAnswer,
    ChangesQuery,
    CitingAnswerList,
    CitingAnswersQuery,
    FileCheckAnswer,
)
from pegboard.features.knowledge.schemas import AddDocuments
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.routes.knowledge.bases import BaseId
from pegboard.servers.http.routes.knowledge.documents import DocumentId, make_new_document

router = APIRouter(route_class=JsonRoute, tags=["knowledge"])

_ONE = "/knowledge/{base}/documents/{document}"


@router.get(f"{_ONE}/changes", response_model=ChangesAnswer, responses=refusals(400, 404))
async def show_changes(
    board: Board,
    caller: Caller,
    base: BaseId,
    document: DocumentId,
    wanted: Annotated[ChangesQuery, Query()],
) -> Response:
    """Show what changed between two texts of a document: counts, then the passages."""
    found = board.knowledge.bases.find(base, principal=caller)
    row = await board.knowledge.documents.get(found, document, principal=caller)
    changes = await compare_revisions(board.knowledge.documents, row, wanted)
    return JsonResponse(changes.to_dict(row, start=wanted.start, limit=wanted.limit))


@router.post(
    "/knowledge/{base}/check",
    response_model=FileCheckAnswer,
    responses=refusals(400, 404, 409, 413, 415),
)
async def check_document(
    board: Board, caller: Caller, base: BaseId, wanted: Annotated[AddDocuments, Body()]
) -> Response:
    """Show what a file would change, before it is put in: an `upload`, or a small `file`."""
    found = board.knowledge.bases.find(base, principal=caller)
    new = make_new_document(wanted)
    checked = await board.knowledge.checker.check(found, new, principal=caller)
    return JsonResponse(checked.to_dict())


@router.get(f"{_ONE}/answers", response_model=CitingAnswerList, responses=refusals(400, 404))
async def list_citing_answers(
    board: Board,
    caller: Caller,
    base: BaseId,
    document: DocumentId,
    wanted: Annotated[CitingAnswersQuery, Query()],
) -> Response:
    """List your answers that cite a document, the last first, page by page."""
    found = board.knowledge.bases.find(base, principal=caller)
    row = await board.knowledge.documents.get(found, document, principal=caller)
    answers, cursor = await board.knowledge.citations.list(
        row, limit=wanted.limit, cursor=wanted.cursor, principal=caller
    )
    return JsonResponse(
        {"answers": [it.to_dict() for it in answers], "next_cursor": cursor or None}
    )
