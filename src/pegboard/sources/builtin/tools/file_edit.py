"""`file_edit`: replaces an exact part of a workspace file."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.workspaces import files_of
from pegboard.sources.builtin.workspaces import unavailable as availability
from pegboard.tools import tool

__all__ = ["availability", "file_edit"]

_MAX_BYTES = 10_000_000


class FileEdit(TypedDict):
    """What changed."""

    path: str
    replaced: int
    first_line: int


@tool(
    effect="write",
    category="filesystem",
    open_world=False,
    timeout=15,
    tags=("file", "edit", "replace"),
)
def file_edit(
    path: Annotated[str, Field(min_length=1, max_length=1024)],
    old: Annotated[str, Field(min_length=1, max_length=1_000_000)],
    new: Annotated[str, Field(max_length=1_000_000)],
    ctx: ToolContext[Services],
    *,
    replace_all: bool = False,
) -> FileEdit:
    """Replace a piece of text in a workspace file by another.

    The old text must occur in the file exactly as given, white space included, and only once,
    unless all of its occurrences are to be replaced: give some lines around it to make it unique.

    Args:
        path: Relative to the workspace.
        old: The text to replace.
        new: What to put in its place; empty to remove it.
        ctx: Says which workspace.
        replace_all: Whether to replace every occurrence.
    """
    files = files_of(ctx)
    data = files.read(path, max_bytes=_MAX_BYTES)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"'{path}' is not a text file.") from error
    found = text.count(old)
    if found == 0:
        raise InvalidRequest(f"The old text does not occur in '{path}'; read the file again.")
    if found > 1 and not replace_all:
        raise InvalidRequest(
            f"The old text occurs {found} times in '{path}'; add lines around it, or replace all."
        )
    if len(data) + found * (len(new.encode()) - len(old.encode())) > _MAX_BYTES:
        raise InvalidRequest(f"'{path}' would become larger than {_MAX_BYTES} bytes.")
    files.write(path, text.replace(old, new).encode(), replace=True)
    return FileEdit(path=path, replaced=found, first_line=text.count("\n", 0, text.index(old)) + 1)
