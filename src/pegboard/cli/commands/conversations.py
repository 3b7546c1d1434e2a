"""`pegboard conversations`: find conversations, and get their files."""

from contextlib import aclosing
from pathlib import Path, PurePosixPath
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

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The conversation, as `c_...`.")]

conversations = typer.Typer(
    help="List conversations, and get their files.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
files = typer.Typer(
    help="The files of a conversation: those of messages, and those that tools wrote.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
conversations.add_typer(files, name="files")


@conversations.command("list")
def list_conversations(
    *,
    search: Annotated[
        str, typer.Option(help="Only those in whose title, messages or answers this text stands.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=200, help="Maximum number of entries.")] = 20,
    cursor: Annotated[str, typer.Option(help="Cursor of the next page.")] = "",
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List your conversations, the last changed first; go on with `pegboard chat -c ID`."""
    with exit_on_error():
        page = with_client(
            settings(board, data, url),
            lambda client: client.conversations.list(text=search, limit=limit, cursor=cursor),
            opens="named",
        )
    if json:
        say_json(page)
        return
    table(("id", "changed", "agent", "title"), map(_row, page["conversations"]))
    if page["next_cursor"]:
        note(f"more with --cursor {page['next_cursor']}")


@files.command("list")
def list_files(
    conversation: IdArgument,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List the files of a conversation."""
    with exit_on_error():
        found = with_client(
            settings(board, data, url),
            lambda client: client.conversations.list_files(conversation),
            opens="named",
        )
    if json:
        say_json(found)
        return
    rows = ((f["path"], str(f["size"]), format_time(f["modified_at"])) for f in found["files"])
    table(("path", "bytes", "changed"), rows)
    if found["has_more"]:
        note("There are more files, which are not listed.")


@files.command("get")
def get_file(
    conversation: IdArgument,
    path: Annotated[str, typer.Argument(help="The path of the file, as it is listed.")],
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
    """Get a file of a conversation; a file that is there already is not overwritten."""
    target = output or Path(PurePosixPath(path).name)

    async def load(client: "BoardClient") -> None:
        async with aclosing(client.conversations.read_file(conversation, path)) as chunks:
            await save_file(chunks, target)

    with exit_on_error():
        with_client(settings(board, data, url), load, opens="named")
    if str(target) != STDOUT:
        say(str(target))


def _row(conversation: dict[str, Any]) -> tuple[str, ...]:
    agent = conversation["agent"] or "auto"
    changed = format_time(conversation["updated_at"])
    return conversation["id"], changed, agent, conversation["title"]
