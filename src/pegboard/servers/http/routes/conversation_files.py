"""`/conversations/{id}/files` and `/view`: the files that messages brought and tools wrote."""

from pathlib import PurePosixPath
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Response
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from pegboard.features.conversations.schemas import ConversationFilesAnswer
from pegboard.features.conversations.views import view_files
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.routes.chat import Id

router = APIRouter(route_class=JsonRoute, tags=["chat"])

FilePath = Annotated[
    str, Path(min_length=1, max_length=1024, description="As it is listed, with `/`.")
]
_BYTES = "application/octet-stream"
_INERT = {
    ".csv": "text/csv",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".json": "application/json",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".txt": "text/plain",
    ".webp": "image/webp",
    ".zip": "application/zip",
}
"""Types of files in which a browser runs nothing; all others are only bytes."""
_SHOWN = {".htm": "text/html", ".html": "text/html", ".svg": "image/svg+xml"}
_APART = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
)
"""The policy of a page that a tool wrote: it has no origin, so that it reaches neither the console
nor its cookie, and no network. What frames it keeps it from leading elsewhere."""


@router.get(
    "/conversations/{id}/files", response_model=ConversationFilesAnswer, responses=refusals(404)
)
async def list_conversation_files(board: Board, caller: Caller, id: Id) -> Response:  # noqa: A002 - the name in the path
    """List the files of a conversation: what messages brought, and what tools wrote."""
    found = await board.conversations.workspaces.list(id, principal=caller)
    return JsonResponse(view_files(found))


@router.get(
    "/conversations/{id}/files/{path:path}",
    response_class=Response,
    responses=refusals(404)
    | {
        200: {
            "description": "The file. Types in which a browser could run something are "
            "`application/octet-stream`.",
            "content": {_BYTES: {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def download_conversation_file(
    board: Board,
    caller: Caller,
    id: Id,  # noqa: A002 - as above
    path: FilePath,
) -> Response:
    """Download a file of a conversation."""
    found = await board.conversations.workspaces.open(id, path, principal=caller)
    name = PurePosixPath(path)
    return StreamingResponse(
        found.chunks,
        media_type=_INERT.get(name.suffix.lower(), _BYTES),
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name.name, safe='')}",
            "Content-Length": str(found.file.size),
            "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options": "nosniff",
        },
    )


@router.get(
    "/conversations/{id}/view/{path:path}",
    response_class=Response,
    responses=refusals(404)
    | {
        200: {
            "description": "The page or drawing, with a policy that keeps it apart.",
            "content": {type_: {"schema": {"type": "string"}} for type_ in _SHOWN.values()},
        }
    },
)
async def view_conversation_file(
    board: Board,
    caller: Caller,
    id: Id,  # noqa: A002 - as above
    path: FilePath,
) -> Response:
    """View an HTML or SVG file of a conversation, in a sandbox without network."""
    type_ = _SHOWN.get(PurePosixPath(path).suffix.lower())
    if type_ is None:
        raise HTTPException(404, "Only HTML and SVG files are shown; download this one.")
    found = await board.conversations.workspaces.open(id, path, principal=caller)
    return StreamingResponse(
        found.chunks,
        media_type=f"{type_}; charset=utf-8",
        headers={
            "Content-Length": str(found.file.size),
            "Content-Security-Policy": _APART,
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "SAMEORIGIN",
        },
    )
