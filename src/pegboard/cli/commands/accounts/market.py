"""`pegboard market`: browse external catalogues and add reviewed entries."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from pegboard.cli.add_source import NewSource, add_source, refuse_duplicate, show_source
from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import (
    DEFAULT_BOARD,
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    refuse_url,
    settings,
    with_board,
    with_client,
)
from pegboard.cli.output.marketplace import print_review
from pegboard.cli.output.tables import count_noun, first_line, note, say_json, table
from pegboard.core.principal import LOCAL
from pegboard.errors import ConfigError, InvalidRequest

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient
    from pegboard.features.marketplace import EntrySelection, Review
    from pegboard.runtime import Pegboard, Settings
    from pegboard.runtime.board_file.load import LoadedBoard

T = TypeVar("T")
EntryArgument = Annotated[
    str, typer.Argument(metavar="MARKET/ENTRY", help="The marketplace and the entry's name.")
]
WayOption = Annotated[
    str,
    typer.Option("--way", help="The install option, for example `remote-1` [default: the best]."),
]
ToolsOption = Annotated[
    str, typer.Option("--tools", help="Which of its tools, separated by commas [default: all].")
]
NameOption = Annotated[
    str, typer.Option("--name", help="Prefix of its tools' names; by default generated.")
]
_NONE = (
    "no marketplace is configured; name one in board.yaml:\n"
    "  marketplaces:\n"
    "    - {kind: mcp_registry, name: official, document: https://registry.example/v0.1/servers}"
)

market = typer.Typer(
    help="Browse external catalogues, and add reviewed entries.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@market.command("list")
def list_entries(
    words: Annotated[list[str] | None, typer.Argument(help="Words to look for.")] = None,
    *,
    capability: Annotated[
        str, typer.Option("--capability", "-c", help="Only entries for this capability.")
    ] = "",
    marketplace: Annotated[str, typer.Option(help="Only of this marketplace.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=500, help="Maximum number of entries.")] = 50,
    cursor: Annotated[str, typer.Option(help="Cursor of the next page.")] = "",
    board: BoardOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List the entries of the board's marketplaces."""
    from pegboard.features.marketplace import EntryQuery

    wanted = EntryQuery(
        query=" ".join(words or ()),
        capability=capability,
        marketplace=marketplace,
        limit=limit,
        cursor=cursor,
    )
    with exit_on_error():
        found = _with_market(settings(board, url=url), lambda it: it.list_entries(wanted))
    if json:
        say_json(found)
        return
    for item in found["marketplaces"]:
        _tell_state(item)
    headings = ("entry", "version", "effect", "good for", "description")
    table(headings, map(_row, found["entries"]))
    note(_count(len(found["entries"])) if found["marketplaces"] else _NONE)
    if found["next_cursor"]:
        note(f"more with --cursor {found['next_cursor']}")


@market.command()
def show(
    entry: EntryArgument,
    *,
    way: WayOption = "",
    tools: ToolsOption = "",
    name: NameOption = "",
    board: BoardOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Review an entry: show everything that adding it would do, without starting it."""
    with exit_on_error():
        choice = _choice(way, tools, name)
        marketplace, rest = _split(entry)
        review = _with_market(
            settings(board, url=url),
            lambda client: client.review_entry(marketplace, rest, choice),
        )
    if json:
        say_json(review)
    else:
        print_review(review)


@market.command()
def add(
    entry: EntryArgument,
    *,
    digest: Annotated[
        str, typer.Option(help="Digest of the review; refused if the entry has changed since.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    way: WayOption = "",
    tools: ToolsOption = "",
    name: NameOption = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Whether to open it and show its tools.")
    ] = True,
    board: BoardOption = None,
    data: DataOption = None,
) -> None:
    """Add a reviewed entry to the board file."""
    from pegboard.runtime.board_file.load import load_board
    from pegboard.runtime.settings import environ

    with exit_on_error():
        refuse_url()
        choice = _choice(way, tools, name)
        review = _review(entry, choice, board, digest=digest)
        source = review.source
        if source is None:
            raise InvalidRequest(f"It cannot be installed this way: {review.way.problem}")
        path = settings(board).board or DEFAULT_BOARD
        loaded = load_board(path, environ())
        refuse_duplicate(loaded, source["kind"], source["config"])
        _refuse_sibling(loaded, source, named=bool(name))
        if not digest and not _is_wanted(review, yes=yes or dry_run):
            note("nothing is added")
            raise typer.Exit
        made = NewSource(kind=source["kind"], config=source["config"])
        add_source(made, board, name=source["name"], dry_run=dry_run, check=False)
        if dry_run:
            return
        _record(review, settings(board, data), path)
        if check:
            show_source(path, source, load_board(path, environ()))


def _refuse_sibling(loaded: "LoadedBoard", source: Mapping[str, Any], *, named: bool) -> None:
    """Refuse a second source for a server that the board already uses.

    Raises:
        InvalidRequest: There is one, and no name was given; names the line and what to write there.
    """
    written: Any = {} if loaded.located is None else loaded.located.value
    for index in range(0 if named else len(loaded.board.sources)):
        entry = written["sources"][index]
        known, wanted = dict(entry.get("config") or {}), dict(source["config"])
        if not (known.pop("include", None) and wanted.pop("include", None)):
            continue
        if (entry["kind"], known) == (source["kind"], wanted):
            raise InvalidRequest(
                f"{loaded.where(('sources', index))} already has tools of this server: write "
                f"{source['config']['include']} into its 'include' too, or use --name to add it "
                "as a separate source"
            )


def _is_wanted(review: "Review", *, yes: bool) -> bool:
    """Show the review and ask for confirmation.

    Raises:
        InvalidRequest: There is no terminal to ask.
    """
    if not yes and not sys.stdin.isatty():
        where = f"{review.entry.market}/{review.entry.id}"
        raise InvalidRequest(
            f"The entry has not been reviewed: 'pegboard market show {where}' shows it and its "
            "digest; pass the digest with --digest."
        )
    print_review(review.shown)
    return yes or typer.confirm("Add it to the board?", err=True)


def _record(review: "Review", chosen: "Settings", path: Path) -> None:
    """Record the addition in the audit trail, if there is one and no server has it."""
    from pegboard.cli.run_async import run_async
    from pegboard.core.principal import LOCAL
    from pegboard.features.marketplace import addition_event
    from pegboard.runtime.wiring.offline import open_offline

    if chosen.data is None and chosen.database is None:
        return
    event = addition_event(review, LOCAL, at=time(), file=path.name)

    async def tell() -> None:
        async with open_offline(chosen) as opened:
            opened.tell(event)

    try:
        run_async(tell())
    except ConfigError as error:
        note(
            "pegboard: this was not written to the audit trail: "
            f"{error.message.partition(chr(10))[0]}"
        )


def _review(
    entry: str, choice: "EntrySelection", board: Path | None, *, digest: str = ""
) -> "Review":
    marketplace, rest = _split(entry)

    async def look(opened: "Pegboard") -> "Review":
        if digest:
            return await opened.marketplace.confirm(
                marketplace, rest, choice, digest=digest, principal=LOCAL
            )
        return await opened.marketplace.review(marketplace, rest, choice, principal=LOCAL)

    return with_board(_without_data(settings(board)), look, whole=False)


def _with_market(chosen: "Settings", use: "Callable[[BoardClient], Awaitable[T]]") -> T:
    return with_client(_without_data(chosen), use, opens="named")


def _without_data(chosen: "Settings") -> "Settings":
    """Settings of the board without its stored data, which a server may have."""
    return chosen.model_copy(update={"data": None, "database": None})


def _split(entry: str) -> tuple[str, str]:
    marketplace, _, rest = entry.partition("/")
    if not rest:
        raise InvalidRequest("write MARKET/ENTRY, as 'pegboard market list' shows them")
    return marketplace, rest


def _choice(way: str, tools: str, name: str) -> "EntrySelection":
    from pegboard.features.marketplace import EntrySelection

    wanted = tuple(item.strip() for item in tools.split(",") if item.strip())
    return EntrySelection(way=way, tools=wanted, name=name)


def _tell_state(item: dict[str, Any]) -> None:
    if item["status"] != "ok":
        note(f"marketplace '{item['name']}' is {item['status']}: {item['reason']}")
    for skipped in item["skipped"]:
        many = _count(skipped["count"])
        note(f"marketplace '{item['name']}': {many} left out, {skipped['reason']}")


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    words = ", ".join(item["name"] for item in entry["capabilities"])
    where = f"{entry['marketplace']}/{entry['entry']}"
    told = entry["description"] or entry["title"]
    return (where, entry["version"], entry["effect"], words, first_line(told))


def _count(count: int) -> str:
    return count_noun(count, "entry") if count == 1 else f"{count} entries"
