"""`/knowledge/{base}/documents`: put in, shown, changed, reviewed and deleted."""

from collections.abc import AsyncIterator
from pathlib import PurePosixPath
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Body, Path, Query, Response
from fastapi.responses import StreamingResponse

from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.principal import Principal
from pegboard.errors import DocumentNotFound, InvalidRequest
from pegboard.features.knowledge import DocumentEdit, DocumentQuery, DocumentSource, NewDocument
from pegboard.features.knowledge.base_views import cut_page, find_page, view_detail, view_page
from pegboard.features.knowledge.bases import KnowledgeBase
from pegboard.features.knowledge.history_schemas import TextAnswer, TextQuery
from pegboard.features.knowledge.schemas import (
    AddDocuments,
    AddedDocuments,
    ChangeDocument,
    DeletionAnswer,
    DocumentAnswer,
    DocumentDetail,
    DocumentFilter,
    DocumentList,
    ReviewDocument,
)
from pegboard.runtime import Pegboard
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.routes.knowledge.bases import BaseId

router = APIRouter(route_class=JsonRoute, tags=["knowledge"])

DocumentId = Annotated[str, Path(min_length=1, max_length=64, description="Id of a document.")]
_PREFIX = "/knowledge/{base}/documents"
_ONE = f"{_PREFIX}/{{document}}"
FILE_HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
"""What keeps a file that somebody has put in apart from the console."""


@router.get(_PREFIX, response_model=DocumentList, responses=refusals(400, 404))
async def list_documents(
    board: Board, caller: Caller, base: BaseId, wanted: Annotated[DocumentFilter, Query()]
) -> Response:
    """List documents that you see: failed, held back, under way, then ready; the last first."""
    found = board.knowledge.bases.find(base, principal=caller)
    query = DocumentQuery(
        state=wanted.state or "", text=wanted.text, limit=wanted.limit, cursor=wanted.cursor
    )
    rows, cursor = await board.knowledge.documents.list_page(found, query, principal=caller)
    handles = await board.knowledge.find_handles(map(_find_owner, rows))
    views = [_view(board, found, row, caller, handles) for row in rows]
    return JsonResponse({"documents": views, "next_cursor": cursor or None})


@router.post(
    _PREFIX,
    status_code=202,
    response_model=AddedDocuments,
    responses=refusals(400, 404, 409, 413, 415),
)
async def add_documents(
    board: Board, caller: Caller, base: BaseId, wanted: Annotated[AddDocuments, Body()]
) -> Response:
    """Put documents in: an uploaded file, a small one, a folder of the server, or web pages."""
    found = board.knowledge.bases.find(base, principal=caller)
    if wanted.folder is not None or wanted.web is not None:
        web = wanted.web
        gathering = DocumentSource(
            base=found.id,
            folder=wanted.folder or "",
            url="" if web is None else web.url,
            below=web is not None and web.below,
            at_most=1 if web is None or not web.below else web.at_most,
            audience=wanted.audience,
            organisation=wanted.organisation,
        )
        run = await board.knowledge.gather(found, gathering, principal=caller)
        return JsonResponse({"documents": [], "run": run}, 202)
    new = make_new_document(wanted)
    row, outcome = await board.knowledge.documents.add(found, new, principal=caller)
    handles = await board.knowledge.find_handles([_find_owner(row)])
    view = _view(board, found, row, caller, handles)
    return JsonResponse({"documents": [{"document": view, "outcome": outcome}], "run": ""}, 202)


def make_new_document(wanted: AddDocuments) -> NewDocument:
    """The file of a request.

    Raises:
        InvalidRequest: It names a folder or web pages.
    """
    if wanted.folder is not None or wanted.web is not None:
        raise InvalidRequest("Give an 'upload' or a 'file': folders and pages are not checked.")
    file = wanted.file
    return NewDocument(
        name="" if file is None else file.name,
        chunks=None if file is None else _once(file.data),
        file=wanted.upload or "",
        path=wanted.path,
        title=wanted.title,
        edition=wanted.edition,
        replaces=wanted.replaces,
        audience=wanted.audience or "base",
        organisation=wanted.organisation,
    )


@router.get(_ONE, response_model=DocumentDetail, responses=refusals(404))
async def show_document(
    board: Board, caller: Caller, base: BaseId, document: DocumentId
) -> Response:
    """Show a document with what came out of it."""
    found, row = await _find(board, base, document, caller)
    try:
        _, text = await board.knowledge.documents.get_text(row)
    except DocumentNotFound:
        text = None
    view = board.knowledge.view(found, row, principal=caller)
    owner = _find_owner(row)
    handles = await board.knowledge.find_handles([owner])
    return JsonResponse(view_detail(view, text, owner=handles.get(owner, owner)))


@router.patch(_ONE, response_model=DocumentAnswer, responses=refusals(400, 404, 413, 415))
async def change_document(
    board: Board,
    caller: Caller,
    base: BaseId,
    document: DocumentId,
    wanted: Annotated[ChangeDocument, Body()],
) -> Response:
    """Change who sees a document, its edition or what it replaces; its text stays."""
    found = board.knowledge.bases.find(base, principal=caller)
    edit = DocumentEdit(**wanted.model_dump())
    row = await board.knowledge.documents.change(found, document, edit, principal=caller)
    return await _answer(board, found, row, caller)


@router.delete(_ONE, status_code=204, responses=refusals(404))
async def delete_document(
    board: Board, caller: Caller, base: BaseId, document: DocumentId
) -> Response:
    """Delete a document for good: its file, its text, and what quotes it."""
    found = board.knowledge.bases.find(base, principal=caller)
    await board.knowledge.documents.delete(found, document, principal=caller)
    return Response(status_code=204)


@router.get(f"{_ONE}/deletion", response_model=DeletionAnswer, responses=refusals(404))
async def count_deletion(
    board: Board, caller: Caller, base: BaseId, document: DocumentId
) -> Response:
    """Show what goes when a document is deleted."""
    found = board.knowledge.bases.find(base, principal=caller)
    return JsonResponse(await board.knowledge.count_deletion(found, document, principal=caller))


@router.post(
    f"{_ONE}/retry", status_code=202, response_model=DocumentAnswer, responses=refusals(400, 404)
)
async def retry_document(
    board: Board, caller: Caller, base: BaseId, document: DocumentId
) -> Response:
    """Take a document in anew, as after a failure."""
    found = board.knowledge.bases.find(base, principal=caller)
    row = await board.knowledge.documents.retry(found, document, principal=caller)
    return await _answer(board, found, row, caller, status=202)


@router.post(
    f"{_ONE}/refresh", status_code=202, response_model=DocumentAnswer, responses=refusals(400, 404)
)
async def refresh_document(
    board: Board, caller: Caller, base: BaseId, document: DocumentId
) -> Response:
    """Look where a document comes from, and take it in anew if it has changed."""
    found, row = await _find(board, base, document, caller)
    row = await board.knowledge.refresh_document(found, row, principal=caller)
    return await _answer(board, found, row, caller, status=202)


@router.post(
    f"{_ONE}/review",
    response_model=DocumentAnswer,
    responses=refusals(400, 404, 413, 415) | {204: {"description": "It was deleted."}},
)
async def review_document(
    board: Board,
    caller: Caller,
    base: BaseId,
    document: DocumentId,
    wanted: Annotated[ReviewDocument, Body()],
) -> Response:
    """Decide what becomes of the places for which a document is held back."""
    found = board.knowledge.bases.find(base, principal=caller)
    if wanted.decision == "delete":
        await board.knowledge.documents.delete(found, document, principal=caller)
        return Response(status_code=204)
    row = await board.knowledge.documents.review(found, document, wanted.decision, principal=caller)
    return await _answer(board, found, row, caller)


@router.get(f"{_ONE}/text", response_model=TextAnswer, responses=refusals(404))
async def show_text(
    board: Board,
    caller: Caller,
    base: BaseId,
    document: DocumentId,
    wanted: Annotated[TextQuery, Query()],
) -> Response:
    """Show the text of a page with its pieces, and with what was found in it."""
    _, row = await _find(board, base, document, caller)
    revision, text = await board.knowledge.documents.get_text(row, revision=wanted.revision)
    page = find_page(text, page=wanted.page, offset=wanted.offset)
    pieces = await board.knowledge.list_pieces(row) if revision == row.revision else ()
    if wanted.limit is not None:
        page = cut_page(page, pieces, offset=wanted.offset or 0, limit=wanted.limit)
    return JsonResponse(view_page(row, revision, text, page, list(pieces)))


@router.get(
    f"{_ONE}/pages/{{number}}.png",
    response_class=Response,
    responses=refusals(404)
    | {
        200: {
            "description": "The page as a picture.",
            "content": {"image/png": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def draw_page(
    board: Board,
    caller: Caller,
    base: BaseId,
    document: DocumentId,
    number: Annotated[int, Path(ge=1, le=1_000_000)],
) -> Response:
    """Draw a page of a PDF, or a picture."""
    _, row = await _find(board, base, document, caller)
    picture = await board.knowledge.draw_page(row, number)
    return Response(picture, media_type="image/png", headers=FILE_HEADERS)


@router.get(
    f"{_ONE}/file",
    response_class=Response,
    responses=refusals(404)
    | {
        200: {
            "description": "The file, as it came.",
            "content": {
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
            },
        }
    },
)
async def download_document(
    board: Board, caller: Caller, base: BaseId, document: DocumentId
) -> Response:
    """Download the file of a document."""
    _, row = await _find(board, base, document, caller)
    name = PurePosixPath(row.name).name or "document"
    return StreamingResponse(
        board.knowledge.documents.read_file(row),
        media_type="application/octet-stream",
        headers={
            **FILE_HEADERS,
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
            "Content-Length": str(row.size),
        },
    )


async def _find(
    board: Pegboard, base: str, document: str, caller: Principal
) -> tuple[KnowledgeBase, StoredDocument]:
    found = board.knowledge.bases.find(base, principal=caller)
    return found, await board.knowledge.documents.get(found, document, principal=caller)


def _find_owner(row: StoredDocument) -> str:
    """The id of the account that has put a document in."""
    return row.owner.rpartition("/")[2]


def _view(
    board: Pegboard,
    base: KnowledgeBase,
    row: StoredDocument,
    caller: Principal,
    handles: dict[str, str],
) -> dict[str, Any]:
    owner = _find_owner(row)
    view = board.knowledge.view(base, row, principal=caller)
    return view.to_dict(owner=handles.get(owner, owner))


async def _answer(
    board: Pegboard,
    base: KnowledgeBase,
    row: StoredDocument,
    caller: Principal,
    *,
    status: int = 200,
) -> Response:
    handles = await board.knowledge.find_handles([_find_owner(row)])
    return JsonResponse(_view(board, base, row, caller, handles), status)


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data
