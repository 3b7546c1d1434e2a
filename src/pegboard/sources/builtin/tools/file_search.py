"""`file_search`: finds a text in the workspace files."""

import time
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.regex import Pattern
from pegboard.sources.builtin.workspace_files import WorkspaceEntry, WorkspaceFiles
from pegboard.sources.builtin.workspaces import files_of
from pegboard.sources.builtin.workspaces import unavailable as availability
from pegboard.tools import tool

__all__ = ["availability", "file_search"]

_MAX_FILE_BYTES = 2_000_000
_MAX_LINE = 500
_SECONDS = 5.0


class FileMatch(TypedDict):
    """One line in which the query occurs."""

    path: str
    line: int
    text: str


class FileMatches(TypedDict):
    """Matches by path and line; `truncated` when the search stopped early."""

    matches: list[FileMatch]
    files_searched: int
    truncated: bool


@tool(
    effect="read",
    category="filesystem",
    trusted=False,
    idempotent=True,
    timeout=15,
    tags=("file", "grep"),
)
def file_search(
    query: Annotated[str, Field(min_length=1, max_length=1000)],
    ctx: ToolContext[Services],
    *,
    path: Annotated[str, Field(max_length=1024)] = ".",
    pattern: Annotated[str, Field(min_length=1, max_length=200)] = "*",
    regex: bool = False,
    ignore_case: bool = False,
    limit: Annotated[int, Field(ge=1, le=1000)] = 100,
) -> FileMatches:
    """Find lines that contain a text or match a regular expression, in all files below a folder.

    Binary files and files of more than 2 MB are passed over.

    Args:
        query: What to look for.
        ctx: Says which workspace.
        path: The folder to search, relative to the workspace.
        pattern: Only files whose name matches, such as "*.py".
        regex: Whether the query is a regular expression (RE2: no look-around, no backreferences).
        ignore_case: Whether upper and lower case are the same.
        limit: How many matching lines to give at most.
    """
    wanted = Pattern(query, ignore_case=ignore_case, literal=not regex)
    files = files_of(ctx)
    deadline = time.monotonic() + _SECONDS
    matches: list[FileMatch] = []
    searched = 0
    for entry in files.entries(path, deep=True):
        if len(matches) > limit or time.monotonic() > deadline:
            return FileMatches(matches=matches[:limit], files_searched=searched, truncated=True)
        if entry.kind == "file" and fnmatchcase(entry.path.rpartition("/")[2], pattern):
            searched += 1
            matches += _in_file(files, entry, wanted, most=limit + 1 - len(matches))
    return FileMatches(
        matches=matches[:limit], files_searched=searched, truncated=len(matches) > limit
    )


def _in_file(
    files: WorkspaceFiles, entry: WorkspaceEntry, wanted: Pattern, *, most: int
) -> list[FileMatch]:
    if entry.size > _MAX_FILE_BYTES:
        return []
    try:
        text = files.read(entry.path, max_bytes=_MAX_FILE_BYTES).decode("utf-8-sig")
    except (UnicodeDecodeError, InvalidRequest):  # binary, or removed since it was listed
        return []
    if "\0" in text or not wanted.find_in(text):
        return []
    found: list[FileMatch] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if wanted.find_in(line):
            found.append(FileMatch(path=entry.path, line=number, text=line.strip()[:_MAX_LINE]))
            if len(found) == most:
                break
    return found
