"""Requests and responses about files and uploads."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from pegboard.core.ports.accounts.file_store import FileLimits, FilePage, FileRecord, FileUsage
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest
from pegboard.features.files.names import (
    MAX_NAME,
    MAX_PATH,
    NAME_PATTERN,
    PATH_PATTERN,
    check_name,
    check_path,
)
from pegboard.features.files.uploads import MAX_IDLE, NewUpload

_CLOSED = ConfigDict(extra="forbid", frozen=True)
_DIGEST = r"^[0-9a-f]{64}$"
_MAX_SIZE = 2**53
Purpose = Literal["", "chat", "knowledge"]


def _read_name(name: str) -> str:
    try:
        return check_name(name)
    except InvalidRequest as error:
        raise ValueError(str(error)) from error


def _read_path(path: str) -> str:
    try:
        return check_path(path)
    except InvalidRequest as error:
        raise ValueError(str(error)) from error


FileName = Annotated[
    str,
    AfterValidator(_read_name),
    WithJsonSchema(
        {"type": "string", "minLength": 1, "maxLength": MAX_NAME, "pattern": NAME_PATTERN}
    ),
]
"""The name of a file; a fault is told in words, not as a pattern."""
FilePath = Annotated[
    str,
    AfterValidator(_read_path),
    WithJsonSchema({"type": "string", "maxLength": MAX_PATH, "pattern": PATH_PATTERN}),
]
"""The path of a file below the folder that it comes from."""


class BeginUpload(BaseModel):
    """A file that is going to be uploaded."""

    model_config = _CLOSED

    name: Annotated[FileName, Field(description="Without folders; only shown.")]
    size: Annotated[int, Field(strict=True, ge=0, le=_MAX_SIZE, description="In bytes.")]
    digest: Annotated[
        str | None,
        Field(
            pattern=_DIGEST,
            description="SHA-256 in hexadecimal, which the whole content is checked against.",
        ),
    ] = None
    purpose: Annotated[
        Purpose, Field(description="What it is for; empty for a file of your own.")
    ] = ""
    organisation: Annotated[
        str, Field(max_length=64, description="The organisation that will see it too.")
    ] = ""
    base: Annotated[
        str,
        Field(
            max_length=64,
            description="Id of the knowledge base that it is for: returned with the upload, so "
            "that a client finds what it has left.",
        ),
    ] = ""
    path: Annotated[
        FilePath, Field(description="What it will be called there, with its folders.")
    ] = ""

    def to_upload(self) -> NewUpload:
        """The same for the service."""
        return NewUpload(
            name=self.name,
            size=self.size,
            digest=self.digest or "",
            purpose=self.purpose,
            organisation=self.organisation,
            base=self.base,
            path=self.path,
        )


class KeepFile(BaseModel):
    """What is to stay: a file of a conversation, or a result of a call."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "oneOf": [
                {
                    "required": ["conversation", "path"],
                    "properties": {
                        "conversation": {"type": "string"},
                        "path": {"type": "string"},
                        "result": {"type": "null"},
                    },
                },
                {
                    "required": ["result"],
                    "properties": {
                        "conversation": {"type": "null"},
                        "path": {"type": "null"},
                        "result": {"type": "string"},
                    },
                },
            ]
        },
    )

    conversation: Annotated[
        str | None, Field(min_length=1, max_length=200, description="Id of a conversation.")
    ] = None
    path: Annotated[
        str | None,
        Field(min_length=1, max_length=1024, description="Of its file, as it is listed there."),
    ] = None
    result: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=200,
            description="The handle of a stored result or artifact, or its last part.",
        ),
    ] = None
    name: Annotated[
        FileName | None, Field(description="Of the file; by default the one it has.")
    ] = None
    organisation: Annotated[
        str, Field(max_length=64, description="The organisation that will see it too.")
    ] = ""

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        of_conversation = self.conversation is not None and self.path is not None
        is_partial = (self.conversation is None) != (self.path is None)
        if is_partial or of_conversation == (self.result is not None):
            raise ValueError("Give 'conversation' and 'path', or 'result'")
        return self


class ChangeFile(BaseModel):
    """Changes of a file."""

    model_config = _CLOSED

    organisation: Annotated[
        str, Field(max_length=64, description="The organisation that sees it too; empty for none.")
    ]


class FileFilter(BaseModel):
    """Query of `GET /files`; empty means any."""

    model_config = _CLOSED

    purpose: Purpose = ""
    digest: Annotated[
        str | None,
        Field(pattern=_DIGEST, description="SHA-256 in hexadecimal: whether it is here already."),
    ] = None
    limit: Annotated[int, Field(ge=1, le=500, description="Files on a page.")] = 50
    cursor: Annotated[
        str, Field(max_length=200, description="`next_cursor` of the page before; empty at first.")
    ] = ""


class UploadFilter(BaseModel):
    """Query of `GET /uploads`."""

    model_config = _CLOSED

    limit: Annotated[int, Field(ge=1, le=500, description="Uploads on a page.")] = 50
    cursor: Annotated[
        str, Field(max_length=200, description="`next_cursor` of the page before; empty at first.")
    ] = ""


class UploadAnswer(BaseModel):
    """An upload."""

    model_config = _CLOSED

    id: Annotated[str, Field(description="Also of the file that it becomes.")]
    name: str
    size: Annotated[int, Field(description="In bytes, as it was announced.")]
    offset: Annotated[
        int, Field(description="Bytes that have arrived: where the next part begins.")
    ]
    digest: Annotated[str, Field(description="As it was announced; empty if it was not.")]
    purpose: str
    organisation: str
    base: Annotated[str, Field(description="As it was announced; empty if it was not.")]
    path: Annotated[str, Field(description="As it was announced; empty if it was not.")]
    is_finished: Annotated[bool, Field(description="Whether it is a file now.")]
    max_part_bytes: Annotated[int, Field(description="The largest part that is taken.")]
    created_at: Annotated[float, Field(description="Unix seconds.")]
    updated_at: Annotated[float, Field(description="Unix seconds of the last part.")]
    expires_at: Annotated[
        float | None,
        Field(description="Unix seconds after which it is deleted; null for one that is finished."),
    ]


class UploadList(BaseModel):
    """One page of uploads that are not finished, the newest first."""

    model_config = _CLOSED

    uploads: list[UploadAnswer]
    next_cursor: Annotated[
        str | None, Field(description="For the next page; null when this was the last.")
    ]


class FileAnswer(BaseModel):
    """A file."""

    model_config = _CLOSED

    id: str
    name: str
    size: Annotated[int, Field(description="In bytes.")]
    digest: Annotated[str, Field(description="SHA-256 in hexadecimal.")]
    media_type: Annotated[str, Field(description="By content, not by name.")]
    purpose: str
    organisation: Annotated[
        str, Field(description="The organisation that sees it too; empty for none.")
    ]
    holder: Annotated[
        str, Field(description="What it belongs to and is deleted with; empty for nothing.")
    ]
    is_own: Annotated[bool, Field(description="Whether it is yours; else it is shared with you.")]
    created_at: Annotated[float, Field(description="Unix seconds.")]


class FileUsageAnswer(BaseModel):
    """How much you store, and how much you may."""

    model_config = _CLOSED

    bytes: Annotated[int, Field(description="Of your files and uploads.")]
    files: int
    max_bytes: Annotated[int, Field(description="0 for no limit.")]
    max_files: Annotated[int, Field(description="0 for no limit.")]
    max_file_bytes: Annotated[int, Field(description="The largest file.")]


class FileList(BaseModel):
    """One page of files, the newest first."""

    model_config = _CLOSED

    files: list[FileAnswer]
    next_cursor: Annotated[
        str | None, Field(description="For the next page; null when this was the last.")
    ]
    usage: FileUsageAnswer


def upload_to_dict(upload: FileRecord, limits: FileLimits) -> dict[str, Any]:
    """An upload as JSON."""
    is_finished = upload.state == "ready"
    return {
        "id": upload.id,
        "name": upload.name,
        "size": upload.size,
        "offset": upload.size if is_finished else upload.offset,
        "digest": upload.digest,
        "purpose": upload.purpose,
        "organisation": upload.organisation,
        "base": upload.base,
        "path": upload.path,
        "is_finished": is_finished,
        "max_part_bytes": limits.part_bytes,
        "created_at": upload.created_at,
        "updated_at": upload.updated_at,
        "expires_at": None if is_finished else upload.updated_at + MAX_IDLE,
    }


def file_to_dict(file: FileRecord, principal: Principal) -> dict[str, Any]:
    """A file as JSON."""
    return {
        "id": file.id,
        "name": file.name,
        "size": file.size,
        "digest": file.digest,
        "media_type": file.media_type,
        "purpose": file.purpose,
        "organisation": file.organisation,
        "holder": file.holder,
        "is_own": file.owner == principal.owner,
        "created_at": file.created_at,
    }


def files_to_dict(
    page: FilePage, usage: FileUsage, limits: FileLimits, principal: Principal
) -> dict[str, Any]:
    """One page of files as JSON."""
    return {
        "files": [file_to_dict(file, principal) for file in page.files],
        "next_cursor": page.next_cursor or None,
        "usage": {
            "bytes": usage.bytes,
            "files": usage.files,
            "max_bytes": limits.quota.bytes,
            "max_files": limits.quota.files,
            "max_file_bytes": limits.file_bytes,
        },
    }
