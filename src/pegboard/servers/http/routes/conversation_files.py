"""`/conversations/{id}/files`: the files that messages brought and tools wrote."""

from pathlib import PurePosixPath
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Response
from fastapi.responses import StreamingResponse

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
