"""`pegboard pins`: review changed and new definitions of upstream tools."""

import json as json_library
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import quote, urlencode

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.offline_storage import run_offline
from pegboard.cli.options import DataOption, JsonOption, settings
from pegboard.cli.output.tables import format_time, say, say_json, table
from pegboard.cli.output.tables import note as beside
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from pegboard.core.ports.catalogue_stores import HeldDefinition, Pin
    from pegboard.features.pins import Pins
    from pegboard.features.pins.service import Decision

T = TypeVar("T")
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
    help="Review and approve changed and new definitions of upstream tools.",
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
    json: JsonOption = False,
) -> None:
    """List the approved definitions."""
    from pegboard.features.pins.schemas import pins_to_dict

    call = _query("/pins", source=source)
    with exit_on_error():
        page = run_offline(
            settings(data=data),
            f"GET {call}",
            lambda opened: opened.pins.list_pins(source=source, limit=limit, cursor=cursor),
        )
    if json:
        say_json(pins_to_dict(page))
        return
    table(("source", "name", "tool", "approved", "by", "digest"), map(_pin_row, page.items))
    _more(page.next_cursor)


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
    json: JsonOption = False,
) -> None:
    """List held definitions: changed ones, and those of new tools."""
    from pegboard.features.pins.schemas import definitions_to_dict

    call = _query("/tools/held", source=source, state=state)
    with exit_on_error():
        page = run_offline(
            settings(data=data),
            f"GET {call}",
            lambda opened: opened.pins.list_held(
                source=source, state=state, limit=limit, cursor=cursor
            ),
        )
    if json:
        say_json(definitions_to_dict(page))
        return
    headings = ("source", "name", "tool", "state", "held", "kind", "changes")
    table(headings, map(_row_of_held, page.items))
    _more(page.next_cursor)


@pins.command()
def show(
    source: SourceArgument, tool: ToolArgument, *, data: DataOption = None, json: JsonOption = False
) -> None:
    """Show the changes of a held definition, or a new one as a whole."""
    from pegboard.features.pins.schemas import definition_to_dict

    with exit_on_error():
        call = "GET " + _query("/tools/held", source=source)
        found = run_offline(settings(data=data), call, lambda opened: opened.pins.get(source, tool))
    if json:
        say_json(definition_to_dict(found))
    else:
        _show(found)


@pins.command()
def approve(
    source: SourceArgument,
    tool: Annotated[
        str, typer.Argument(metavar="[TOOL]", help="The tool; leave it out with --all.")
    ] = "",
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Everything that waits on this source.")
    ] = False,
    digest: DigestOption = "",
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Approve a held definition; the tool uses it from now on."""
    from pegboard.features.pins.schemas import definition_to_dict

    with exit_on_error():
        if everything == bool(tool):
            raise InvalidRequest("Name a tool, or use --all to approve everything that waits.")
        if not everything:
            _decide(source, tool, "approve", digest, data, json=json)
            return
        call = "GET " + _query("/tools/held", source=source, state="waiting")
        done = run_offline(
            settings(data=data), call, lambda opened: opened.pins.approve_all(source)
        )
    if json:
        say_json({"held": [definition_to_dict(item, state="approved") for item in done]})
        return
    for item in done:
        say(f"approved: {item.source} {item.name}")


@pins.command()
def reject(
    source: SourceArgument,
    tool: ToolArgument,
    *,
    digest: DigestOption = "",
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Reject a held definition; the approved one, if any, stays in use."""
    with exit_on_error():
        _decide(source, tool, "reject", digest, data, json=json)


def _decide(
    source: str, tool: str, decision: "Decision", digest: str, data: Any, *, json: bool
) -> None:
    from pegboard.features.pins.schemas import definition_to_dict

    async def decide(service: "Pins") -> "HeldDefinition":
        wanted = digest or (await service.get(source, tool)).digest
        return await service.decide(source, tool, decision, digest=wanted)

    state = "approved" if decision == "approve" else "rejected"
    call = f"POST /tools/held/{quote(source, safe='')}/{quote(tool, safe='')}"
    body = json_library.dumps({"decision": decision, "digest": digest or "DIGEST"})
    done = run_offline(settings(data=data), call, lambda opened: decide(opened.pins), body=body)
    if json:
        say_json(definition_to_dict(done, state=state))
        return
    _show(done, state=state)


def _show(held: "HeldDefinition", *, state: str = "") -> None:
    from pegboard.features.pins.schemas import definition_to_dict

    row = definition_to_dict(held, state=state)
    for key in ("source", "name", "tool", "state", "kind", "digest"):
        say(f"{key}: {row[key]}")
    say(f"held: {format_time(row['held_at'])}")
    for change in row["changes"]:
        say("")
        say(f"{change['place']} ({change['kind']})")
        for sign, value in (("-", change["before"]), ("+", change["after"])):
            if value is not None:
                say("\n".join(f"  {sign} {line}" for line in _lines(value)))


def _pin_row(pin: "Pin") -> tuple[str, ...]:
    from pegboard.features.pins.schemas import pin_to_dict

    row = pin_to_dict(pin)
    told = (row["source"], row["name"], row["tool"])
    return (*told, format_time(pin.approved_at), pin.approved_by or "policy", pin.digest[:12])


def _row_of_held(held: "HeldDefinition") -> tuple[str, ...]:
    from pegboard.features.pins.schemas import definition_to_dict

    row = definition_to_dict(held)
    places = ", ".join(change["place"] for change in row["changes"])
    told = (row["source"], row["name"], row["tool"], row["state"])
    return (*told, format_time(held.held_at), row["kind"], places)


def _lines(value: Any) -> list[str]:
    text = value if isinstance(value, str) else json_library.dumps(value, ensure_ascii=False)
    cut = text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}… ({len(text)} characters)"
    return cut.splitlines() or [""]


def _query(path: str, **wanted: str) -> str:
    said = {name: value for name, value in wanted.items() if value}
    return f"{path}?{urlencode(said)}" if said else path


def _more(cursor: str) -> None:
    if cursor:
        beside(f"more with --cursor {cursor}")
