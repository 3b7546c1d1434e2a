"""`/files`: files that people have stored, listed, downloaded, shared and deleted."""

from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import PurePosixPath
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Body, Header, Path, Query, Response
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from pegboard.core.ports.accounts.file_store import FileQuery
from pegboard.core.result import RESULT_URI
from pegboard.errors import InvalidRequest
from pegboard.execution.results.handles import load_result
from pegboard.features.files.schemas import (
    ChangeFile,
    FileAnswer,
    FileFilter,
    FileList,
    KeepFile,
    file_to_dict,
    files_to_dict,
)
from pegboard.servers.http.byte_ranges import read_range
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals

router = APIRouter(route_class=JsonRoute, tags=["files"])

FileId = Annotated[str, Path(min_length=1, max_length=64, description="Id of a file.")]
_BYTES = "application/octet-stream"
_SAFE = frozenset({"application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp"})
"""Types in which a browser runs nothing; all others are only bytes."""
_CONTENT = {_BYTES: {"schema": {"type": "string", "format": "binary"}}}


@router.get("/files", response_model=FileList, responses=refusals(404))
async def list_files(
    board: Board, caller: Caller, wanted: Annotated[FileFilter, Query()]
) -> Response:
    """List your files and those that are shared with you, the newest first."""
    query = FileQuery(
        principal=caller,
        purpose=wanted.purpose,
        digest=wanted.digest or "",
        limit=wanted.limit,
        cursor=wanted.cursor,
    )
    try:
        page = await board.files.list(query)
    except InvalidRequest as error:  # the rest of the query is valid
        raise HTTPException(404, "No page has this cursor.") from error
    usage = await board.files.usage(principal=caller)
    return JsonResponse(files_to_dict(page, usage, board.files.limits, caller))


@router.post(
    "/files",
    status_code=201,
    response_model=FileAnswer,
    responses=refusals(400, 404, 413, 415),
)
async def keep_file(board: Board, caller: Caller, wanted: Annotated[KeepFile, Body()]) -> Response:
    """Store a file of a conversation, or a result of a call, so that it stays."""
    if wanted.result is not None:
        handle = RESULT_URI + wanted.result.removeprefix(RESULT_URI)
        results = board.registry.environment.results
        stored = await load_result(handle, results, caller.owner)
        name, chunks = stored.name or "result", _once(stored.body)
    else:
        path = wanted.path or ""
        workspaces = board.conversations.workspaces
        found = await workspaces.open(wanted.conversation or "", path, principal=caller)
        name, chunks = path, found.chunks
    file = await board.files.store(
        wanted.name or PurePosixPath(name).name,
        chunks,
        purpose="chat",
        organisation=wanted.organisation,
        principal=caller,
    )
    return JsonResponse(file_to_dict(file, caller), 201)


@router.get("/files/{file}", response_model=FileAnswer, responses=refusals(404))
async def show_file(board: Board, caller: Caller, file: FileId) -> Response:
    """Show what is known of a file."""
    return JsonResponse(file_to_dict(await board.files.find(file, principal=caller), caller))


@router.patch("/files/{file}", response_model=FileAnswer, responses=refusals(400, 404, 413, 415))
async def change_file(
    board: Board, caller: Caller, file: FileId, wanted: Annotated[ChangeFile, Body()]
) -> Response:
    """Share one of your files with an organisation of yours, or with nobody any more."""
    changed = await board.files.share(file, wanted.organisation, principal=caller)
    return JsonResponse(file_to_dict(changed, caller))


@router.delete("/files/{file}", status_code=204, responses=refusals(400, 404))
async def delete_file(board: Board, caller: Caller, file: FileId) -> Response:
    """Delete one of your files with its content, for all who see it."""
    await board.files.delete(file, principal=caller)
    return Response(status_code=204)


@router.get(
    "/files/{file}/content",
    response_class=Response,
    responses=refusals(404, 416)
    | {
        200: {
            "description": "The content, as an attachment. Types in which a browser could run "
            "something are `application/octet-stream`.",
            "content": _CONTENT,
        },
        206: {"description": "The range that was asked for.", "content": _CONTENT},
    },
)
async def download_file(
    board: Board,
    caller: Caller,
    file: FileId,
    wanted: Annotated[
        str, Header(alias="Range", max_length=200, description="One range, as `bytes=0-99`.")
    ] = "",
    if_range: Annotated[
        str,
        Header(
            alias="If-Range", max_length=200, description="The `ETag` that the range belongs to."
        ),
    ] = "",
) -> Response:
    """Download a file, or a range of it."""
    found = await board.files.find(file, principal=caller)
    etag = f'"{found.digest}"'
    part = read_range(wanted, found.size) if if_range in {"", etag} else None
    if part is not None and not part.length:
        headers = {"Content-Range": part.header}
        raise HTTPException(416, f"The file has {found.size} bytes.", headers)
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.name, safe='')}",
        "Content-Length": str(found.size if part is None else part.length),
        "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
        "ETag": etag,
        "X-Content-Type-Options": "nosniff",
    }
    if part is None:
        chunks = board.files.read(found)
    else:
        chunks = board.files.read(found, start=part.start, length=part.length)
        headers["Content-Range"] = part.header
    first = await anext(chunks, b"")  # what is missing is told before the answer begins
    return StreamingResponse(
        _chain(first, chunks),
        status_code=200 if part is None else 206,
        media_type=found.media_type if found.media_type in _SAFE else _BYTES,
        headers=headers,
    )


async def _once(content: bytes) -> AsyncGenerator[bytes]:
    yield content


async def _chain(first: bytes, rest: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk
