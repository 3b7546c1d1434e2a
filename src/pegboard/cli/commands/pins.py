"""`pegboard pins`: review changed and new definitions of upstream tools."""

import json as json_library
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import DataOption, JsonOption, UrlOption, settings, with_client
from pegboard.cli.output.tables import format_time, say, say_json, table
from pegboard.cli.output.tables import note as beside
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from pegboard.features.pins.service import Decision
    from pegboard.runtime import Settings

SourceArgument = Annotated[str, typer.Argument(metavar="SOURCE", help="The name of the source.")]
ToolArgument = Annotated[
    str, typer.Argument(metavar="TOOL", help="The tool, by the upstream's name or the board's.")
]
SourceOption = Annotated[str, typer.Option("--source", help="Only of this source.")]
LimitOption = Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of entries.")]
CursorOption = Annotated[str, typer.Option(help="Cursor of the next page.")]
DigestOption = Annotated[
    str,
    typer.Option(
        help="Digest of the held definition; refused if another one is held [default: any]."
    ),
]
_MAX_SHOWN = 400

pins = typer.Typer(
    help="Review changed and new definitions of upstream tools.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@pins.command("list")
def list_pins(
    *,
    source: SourceOption = "",
    limit: LimitOption = 50,
    cursor: CursorOption = "",
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List the approved definitions."""
    with exit_on_error():
        page = with_client(
            settings(data=data, url=url),
            lambda client: client.pins.list(source=source, limit=limit, cursor=cursor),
            opens="stored",
        )
    if json:
        say_json(page)
        return
    table(("source", "name", "tool", "approved", "by", "digest"), map(_pin_row, page["pins"]))
    _more(page["next_cursor"])


@pins.command("held")
def list_held(
    *,
    source: SourceOption = "",
    state: Annotated[
        str, typer.Option(help="`waiting`, `rejected`, `blocked`; empty for all.")
    ] = "",
    limit: LimitOption = 50,
    cursor: CursorOption = "",
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List held definitions: changed ones, and those of new tools."""
    with exit_on_error():
        page = with_client(
            settings(data=data, url=url),
            lambda client: client.pins.list_held(
                source=source, state=state, limit=limit, cursor=cursor
            ),
            opens="stored",
        )
    if json:
        say_json(page)
        return
    headings = ("source", "name", "tool", "state", "held", "kind", "changes")
    table(headings, map(_row_of_held, page["held"]))
    _more(page["next_cursor"])


@pins.command()
def show(
    source: SourceArgument,
    tool: ToolArgument,
    *,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Show the changes of a held definition, or a new one as a whole."""
    with exit_on_error():
        found = with_client(
            settings(data=data, url=url),
            lambda client: client.pins.show(source, tool),
            opens="stored",
        )
    if json:
        say_json(found)
    else:
        _show(found)


@pins.command()
def approve(
    source: SourceArgument,
    tool: Annotated[
        str, typer.Argument(metavar="TOOL", help="The tool; leave it out with --all.")
    ] = "",
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Everything that waits on this source.")
    ] = False,
    digest: DigestOption = "",
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Approve a held definition; the tool uses it from now on."""
    with exit_on_error():
        chosen = settings(data=data, url=url)
        if everything == bool(tool):
            raise InvalidRequest("Name a tool, or use --all to approve everything that waits.")
        if not everything:
            _decide(source, tool, "approve", digest, chosen, json=json)
            return
        done = with_client(chosen, lambda client: client.pins.approve_all(source), opens="stored")
    if json:
        say_json({"held": done})
        return
    for item in done:
        say(f"approved: {item['source']} {item['name']}")


@pins.command()
def reject(
    source: SourceArgument,
    tool: ToolArgument,
    *,
    digest: DigestOption = "",
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Reject a held definition; the approved one, if any, stays in use."""
    with exit_on_error():
        _decide(source, tool, "reject", digest, settings(data=data, url=url), json=json)


def _decide(
    source: str,
    tool: str,
    decision: "Decision",
    digest: str,
    chosen: "Settings",
    *,
    json: bool,
) -> None:
    done = with_client(
        chosen,
        lambda client: client.pins.decide(source, tool, decision, digest=digest),
        opens="stored",
    )
    if json:
        say_json(done)
    else:
        _show(done)


def _show(row: dict[str, Any]) -> None:
    for key in ("source", "name", "tool", "state", "kind", "digest"):
        say(f"{key}: {row[key]}")
    say(f"held: {format_time(row['held_at'])}")
    for change in row["changes"]:
        say("")
        say(f"{change['place']} ({change['kind']})")
        for sign, value in (("-", change["before"]), ("+", change["after"])):
            if value is not None:
                say("\n".join(f"  {sign} {line}" for line in _lines(value)))


def _pin_row(row: dict[str, Any]) -> tuple[str, ...]:
    told = (row["source"], row["name"], row["tool"])
    return (
        *told,
        format_time(row["approved_at"]),
        row["approved_by"] or "policy",
        row["digest"][:12],
    )


def _row_of_held(row: dict[str, Any]) -> tuple[str, ...]:
    places = ", ".join(change["place"] for change in row["changes"])
    told = (row["source"], row["name"], row["tool"], row["state"])
    return (*told, format_time(row["held_at"]), row["kind"], places)


def _lines(value: Any) -> list[str]:
    text = value if isinstance(value, str) else json_library.dumps(value, ensure_ascii=False)
    cut = text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}… ({len(text)} characters)"
    return cut.splitlines() or [""]


def _more(cursor: str | None) -> None:
    if cursor:
        beside(f"more with --cursor {cursor}")
