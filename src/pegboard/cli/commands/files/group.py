"""`pegboard files`: store files, list and get them, and delete them."""

import sys
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    settings,
    with_client,
)
from pegboard.cli.output.save_file import STDOUT, save_file
from pegboard.cli.output.tables import format_time, note, say, say_json, table
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient

FileArgument = Annotated[str, typer.Argument(metavar="ID", help="The file, as `f_...`.")]

files = typer.Typer(
    help="Store, list, get and delete files of the board.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@files.command("list")
def list_files(
    *,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Maximum number of files.")] = 50,
    cursor: Annotated[str, typer.Option(help="Cursor of the next page.")] = "",
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List your files and those that are shared with you, the newest first."""
    with exit_on_error():
        page = with_client(
            settings(board, data, url),
            lambda client: client.files.list(limit=limit, cursor=cursor),
            opens="named",
        )
    if json:
        say_json(page)
        return
    table(("id", "bytes", "stored", "type", "shared with", "name"), map(_row, page["files"]))
    usage = page["usage"]
    most = f" of {usage['max_bytes']:,}" if usage["max_bytes"] else ""
    note(f"You store {usage['bytes']:,}{most} bytes.")
    if page["next_cursor"]:
        note(f"more with --cursor {page['next_cursor']}")


@files.command("put")
def put_files(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="The paths of files of this machine.")
    ],
    *,
    organisation: Annotated[
        str, typer.Option(help="The organisation whose members see them too.")
    ] = "",
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Store files; the same command goes on where it was interrupted."""

    async def put(client: "BoardClient") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for path in paths:
            progress = _Progress(path.name)
            try:
                stored = await client.files.upload(
                    path, name=path.name, organisation=organisation, on_progress=progress.show
                )
            finally:
                progress.clear()
            found.append(stored)
            if not json:
                say(f"{stored['id']}  {stored['name']}")
        return found

    with exit_on_error():
        for path in paths:
            if not path.is_file():
                raise InvalidRequest(f"{path} is not a file.")
        stored = with_client(settings(board, data, url, keep="write"), put, opens="named")
    if json:
        say_json({"files": stored})


@files.command("get")
def get_file(
    file: FileArgument,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Where to write it; `-` for stdout [default: its name, in the current folder].",
        ),
    ] = None,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
) -> None:
    """Get a file; one that is there already is not overwritten."""

    async def load(client: "BoardClient") -> Path:
        target = output or Path(Path((await client.files.show(file))["name"]).name)
        async with aclosing(client.files.read(file)) as chunks:
            await save_file(chunks, target)
        return target

    with exit_on_error():
        target = with_client(settings(board, data, url), load, opens="named")
    if str(target) != STDOUT:
        say(str(target))


@files.command("delete")
def delete_file(
    file: FileArgument,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
) -> None:
    """Delete one of your files, for all who see it."""
    with exit_on_error():
        with_client(
            settings(board, data, url, keep="write"),
            lambda client: client.files.delete(file),
            opens="named",
        )
    say(f"{file} is deleted")


class _Progress:
    """Shows on a terminal how much of a file has arrived."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._is_shown = False

    def show(self, done: int, size: int) -> None:
        """Show how many bytes of how many there are."""
        if sys.stderr.isatty():
            percent = 100 * done // size if size else 100
            sys.stderr.write(f"\r{self._name}: {percent}% of {size:,} bytes")
            sys.stderr.flush()
            self._is_shown = True

    def clear(self) -> None:
        """Remove the line."""
        if self._is_shown:
            sys.stderr.write("\r\033[K")


def _row(file: dict[str, Any]) -> tuple[str, ...]:
    stored = format_time(file["created_at"])
    shared = file["organisation"] if file["is_own"] else f"by {file['organisation']}"
    return file["id"], f"{file['size']:,}", stored, file["media_type"], shared, file["name"]
