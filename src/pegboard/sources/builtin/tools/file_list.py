"""`file_list`: what is in the workspace."""

from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.sources.builtin.workspace_files import Entry, Kind
from pegboard.sources.builtin.workspaces import jail_of
from pegboard.sources.builtin.workspaces import unavailable as availability
from pegboard.tools import tool

__all__ = ["availability", "file_list"]

_MOST_LOOKED_AT = 100_000


class Listed(TypedDict):
    """One entry."""

    path: str
    kind: Kind
    size: int
    modified: str


class Listing(TypedDict):
    """Entries by path; `truncated` when there are more."""

    entries: list[Listed]
    truncated: bool


@tool(effect="read", category="filesystem", idempotent=True, timeout=10, tags=("file", "folder"))
def file_list(
    ctx: ToolContext[Services],
    *,
    path: Annotated[str, Field(max_length=1024)] = ".",
    pattern: Annotated[str, Field(min_length=1, max_length=200)] = "*",
    recursive: bool = False,
    limit: Annotated[int, Field(ge=1, le=5000)] = 500,
) -> Listing:
    """List files and folders of the workspace.

    Args:
        ctx: Says which workspace.
        path: The folder to list, relative to the workspace; "." is the workspace itself.
        pattern: Only names that match, such as "*.md"; * and ? are wildcards.
        recursive: Whether to list what is in its folders, too.
        limit: How many entries to list at most.
    """
    entries: list[Listed] = []
    for number, entry in enumerate(jail_of(ctx).entries(path, deep=recursive)):
        if len(entries) > limit or number == _MOST_LOOKED_AT:
            return Listing(entries=entries[:limit], truncated=True)
        if fnmatchcase(entry.path.rpartition("/")[2], pattern):
            entries.append(_listed(entry))
    return Listing(entries=entries[:limit], truncated=len(entries) > limit)


def _listed(entry: Entry) -> Listed:
    modified = datetime.fromtimestamp(int(entry.modified), UTC).isoformat().replace("+00:00", "Z")
    return Listed(path=entry.path, kind=entry.kind, size=entry.size, modified=modified)
