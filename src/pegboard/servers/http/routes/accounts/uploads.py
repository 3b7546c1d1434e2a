"""`/uploads`: files that arrive in parts, and go on where they were interrupted."""

import base64
import binascii
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Path, Query, Request, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from pegboard.core.ports.accounts.file_store import FileQuery, FileRecord
from pegboard.errors import InvalidRequest
from pegboard.features.files.schemas import (
    BeginUpload,
    FileAnswer,
    UploadAnswer,
    UploadFilter,
    UploadList,
    file_to_dict,
    upload_to_dict,
)
from pegboard.runtime import Pegboard
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import CLIENT_CLOSED, JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals

router = APIRouter(route_class=JsonRoute, tags=["files"])

UploadId = Annotated[str, Path(min_length=1, max_length=64, description="Id of an upload.")]
_DIGEST = "sha-256"
_BYTES = "application/octet-stream"
_OFFSET: dict[str, Any] = {
    "Upload-Offset": {"description": "Where the next part begins.", "schema": {"type": "integer"}}
}


@router.post(
    "/uploads",
    status_code=201,
    response_model=UploadAnswer,
    responses=refusals(400, 413, 415) | {201: {"headers": _OFFSET}},
)
async def begin_upload(
    board: Board, caller: Caller, wanted: Annotated[BeginUpload, Body()]
) -> Response:
    """Begin an upload; its size counts in your quota from now on."""
    upload = await board.files.uploads.begin(wanted.to_upload(), principal=caller)
    return _answer(board, upload, 201)


@router.get("/uploads", response_model=UploadList, responses=refusals(404))
async def list_uploads(
    board: Board, caller: Caller, wanted: Annotated[UploadFilter, Query()]
) -> Response:
    """List your uploads that are not finished, to go on with one."""
    query = FileQuery(principal=caller, state="uploading", limit=wanted.limit, cursor=wanted.cursor)
    try:
        page = await board.files.uploads.list(query)
    except InvalidRequest as error:  # the rest of the query is valid
        raise HTTPException(404, "No page has this cursor.") from error
    found = [upload_to_dict(upload, board.files.limits) for upload in page.files]
    return JsonResponse({"uploads": found, "next_cursor": page.next_cursor or None})


@router.get(
    "/uploads/{upload}",
    response_model=UploadAnswer,
    responses=refusals(404) | {200: {"headers": _OFFSET}},
)
async def show_upload(board: Board, caller: Caller, upload: UploadId) -> Response:
    """Show an upload, and where its next part begins."""
    return _answer(board, await board.files.uploads.find(upload, principal=caller))


@router.patch(
    "/uploads/{upload}",
    response_model=UploadAnswer,
    responses=refusals(400, 404, 408, 409, 413, 415, 429) | {200: {"headers": _OFFSET}},
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "The bytes of the part, as they are.",
            "content": {_BYTES: {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def append_to_upload(
    request: Request,
    board: Board,
    caller: Caller,
    upload: UploadId,
    offset: Annotated[
        int,
        Header(
            alias="Upload-Offset", ge=0, le=2**53, description="Where the part begins in the file."
        ),
    ],
    content_digest: Annotated[
        str,
        Header(
            alias="Content-Digest",
            max_length=1000,
            description="`sha-256=:BASE64:` (RFC 9530), which the part is checked against.",
        ),
    ] = "",
) -> Response:
    """Add the next part: it is taken as a whole, or not at all."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise HTTPException(415, "A part must not be compressed: it is stored as it is.")
    digest = read_digest(content_digest)
    try:
        changed = await board.files.uploads.append(
            upload, request.stream(), offset=offset, digest=digest, principal=caller
        )
    except ClientDisconnect:
        return Response(status_code=CLIENT_CLOSED)
    return _answer(board, changed)


@router.post(
    "/uploads/{upload}/finish",
    status_code=201,
    response_model=FileAnswer,
    responses=refusals(404, 409),
)
async def finish_upload(board: Board, caller: Caller, upload: UploadId) -> Response:
    """Make a file of an upload once all of it is here, and its digest is right."""
    file = await board.files.uploads.finish(upload, principal=caller)
    return JsonResponse(file_to_dict(file, caller), 201)


@router.delete("/uploads/{upload}", status_code=204, responses=refusals(404))
async def abandon_upload(board: Board, caller: Caller, upload: UploadId) -> Response:
    """Delete an upload, with what has arrived of it."""
    await board.files.uploads.abandon(upload, principal=caller)
    return Response(status_code=204)


def read_digest(header: str) -> str:
    """The SHA-256 of a `Content-Digest`, in hexadecimal; empty if it has none.

    Raises:
        InvalidRequest: It is malformed.
    """
    for item in header.split(","):
        name, _, value = item.strip().partition("=")
        if name.lower() != _DIGEST:
            continue
        try:
            digest = base64.b64decode(value.strip(":").encode("ascii"), validate=True)
        except (binascii.Error, UnicodeEncodeError):
            digest = b""
        if len(digest) != 32 or not (value.startswith(":") and value.endswith(":")):
            raise InvalidRequest("Write the Content-Digest as 'sha-256=:BASE64:'.")
        return digest.hex()
    return ""


def _answer(board: Pegboard, upload: FileRecord, status: int = 200) -> Response:
    shown = upload_to_dict(upload, board.files.limits)
    return JsonResponse(shown, status, headers={"Upload-Offset": str(shown["offset"])})
