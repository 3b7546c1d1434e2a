"""`file_write`: creates or replaces a workspace file."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.workspace_files import WorkspaceFiles
from pegboard.sources.builtin.workspaces import files_of
from pegboard.sources.builtin.workspaces import unavailable as availability
from pegboard.tools import tool

__all__ = ["availability", "file_write"]

_MAX_BYTES = 10_000_000


class FileWrite(TypedDict):
    """What was written; `created` when the file is new."""

    path: str
    bytes: int
    created: bool


@tool(effect="write", category="filesystem", open_world=False, timeout=15, tags=("file", "write"))
def file_write(
    path: Annotated[str, Field(min_length=1, max_length=1024)],
    content: Annotated[str, Field(max_length=5_000_000)],
    ctx: ToolContext[Services],
    *,
    mode: Literal["create", "overwrite", "append"] = "create",
) -> FileWrite:
    """Write a text file in the workspace; missing folders are made.

    To change part of a file, use the edit tool.

    Args:
        path: Relative to the workspace, such as "notes/today.md".
        content: The text to write, as UTF-8.
        ctx: Says which workspace.
        mode: "create" fails if the file exists, "overwrite" replaces it, "append" adds at its end.
    """
    files = files_of(ctx)
    data = content.encode()
    if mode == "append":
        data = _existing(files, path) + data
        if len(data) > _MAX_BYTES:
            raise InvalidRequest(f"'{path}' would become larger than {_MAX_BYTES} bytes.")
    created = files.write(path, data, replace=mode != "create")
    return FileWrite(path=path, bytes=len(data), created=created)


def _existing(files: WorkspaceFiles, path: str) -> bytes:
    try:
        return files.read(path, max_bytes=_MAX_BYTES)
    except InvalidRequest as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return b""
        raise
