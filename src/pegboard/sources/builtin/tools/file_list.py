"""`file_list`: lists the workspace."""

from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.sources.builtin.workspace_files import EntryKind, WorkspaceEntry
from pegboard.sources.builtin.workspaces import files_of
from pegboard.sources.builtin.workspaces import unavailable as availability
from pegboard.tools import tool

__all__ = ["availability", "file_list"]

_MAX_LOOKED_AT = 100_000


class FileEntry(TypedDict):
    """One entry."""

    path: str
    kind: EntryKind
    size: int
    modified: str


class FileListing(TypedDict):
    """Entries by path; `truncated` when there are more."""

    entries: list[FileEntry]
    truncated: bool


@tool(
    effect="read",
    category="filesystem",
    trusted=False,
    idempotent=True,
    timeout=10,
    tags=("file", "folder"),
)
def file_list(
    ctx: ToolContext[Services],
    *,
    path: Annotated[str, Field(max_length=1024)] = ".",
    pattern: Annotated[str, Field(min_length=1, max_length=200)] = "*",
    recursive: bool = False,
    limit: Annotated[int, Field(ge=1, le=5000)] = 500,
) -> FileListing:
    """List files and folders of the workspace.

    Args:
        ctx: Says which workspace.
        path: The folder to list, relative to the workspace; "." is the workspace itself.
        pattern: Only names that match, such as "*.md"; * and ? are wildcards.
        recursive: Whether to list what is in its folders, too.
        limit: How many entries to list at most.
    """
    entries: list[FileEntry] = []
    for number, entry in enumerate(files_of(ctx).entries(path, deep=recursive)):
        if len(entries) > limit or number == _MAX_LOOKED_AT:
            return FileListing(entries=entries[:limit], truncated=True)
        if fnmatchcase(entry.path.rpartition("/")[2], pattern):
            entries.append(_to_entry(entry))
    return FileListing(entries=entries[:limit], truncated=len(entries) > limit)


def _to_entry(entry: WorkspaceEntry) -> FileEntry:
    modified = datetime.fromtimestamp(int(entry.modified), UTC).isoformat().replace("+00:00", "Z")
    return FileEntry(path=entry.path, kind=entry.kind, size=entry.size, modified=modified)
