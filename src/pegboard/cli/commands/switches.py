"""`pegboard switches`: turn tools, a source or all writes off, and on again."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import DataOption, JsonOption, UrlOption, settings, with_client
from pegboard.cli.output.kill_switches import warn_if_unmatched
from pegboard.cli.output.tables import format_time, note, say, say_json, table
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from pegboard.core.ports.kill_switch_store import SwitchKind
    from pegboard.runtime import Settings

ToolArgument = Annotated[
    str,
    typer.Argument(metavar="TOOL", help="A tool, or a glob over names in quotes: 'shop__*'."),
]
SourceOption = Annotated[str, typer.Option("--source", help="All tools of this source.")]
WritesOption = Annotated[
    bool, typer.Option("--writes", help="All tools that may change something, on every source.")
]

switches = typer.Typer(
    help="Turn tools off and on again, on every server.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@switches.command("list")
def list_switches(
    *, data: DataOption = None, url: UrlOption = None, json: JsonOption = False
) -> None:
    """List what is turned off."""
    with exit_on_error():
        thrown = with_client(
            settings(data=data, url=url), lambda client: client.list_switches(), opens="stored"
        )
    if json:
        say_json(thrown)
        return
    table(("kind", "name", "since", "by", "reason"), map(_row, thrown["switches"]))
    if not thrown["switches"]:
        note("nothing is turned off")


@switches.command()
def off(
    tool: ToolArgument = "",
    *,
    source: SourceOption = "",
    writes: WritesOption = False,
    reason: Annotated[str, typer.Option(help="Shown to refused callers.")] = "",
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Turn something off; running calls finish, and later ones are refused."""
    with exit_on_error():
        kind, name = _subject(tool, source, writes=writes)
        chosen = settings(data=data, url=url, keep="write")
        done = _turn("off", kind, name, reason, chosen, json=json)
        if json:
            return
        if done["tools"] is None:
            warn_if_unmatched(chosen, kind, name)
        elif done["tools"] == 0:
            note(f"there is no {kind} '{name}' now; 'pegboard tools' lists the tools")


@switches.command()
def on(
    tool: ToolArgument = "",
    *,
    source: SourceOption = "",
    writes: WritesOption = False,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Turn on what was turned off under the same name."""
    with exit_on_error():
        kind, name = _subject(tool, source, writes=writes)
        _turn("on", kind, name, "", settings(data=data, url=url, keep="write"), json=json)


def _turn(
    turn: Literal["on", "off"],
    kind: "SwitchKind",
    name: str,
    reason: str,
    chosen: "Settings",
    *,
    json: bool,
) -> dict[str, Any]:
    done = with_client(
        chosen,
        lambda client: client.turn_switch(turn, kind, name, reason=reason),
        opens="stored",
    )
    if json:
        say_json(done)
    else:
        say(f"{turn}: {name or 'all writes'}")
    return done


def _subject(tool: str, source: str, *, writes: bool) -> "tuple[SwitchKind, str]":
    if sum(map(bool, (tool, source, writes))) != 1:
        raise InvalidRequest("Name one of these: a tool, --source SOURCE, or --writes.")
    if writes:
        return "writes", ""
    return ("tool", tool) if tool else ("source", source)


def _row(switch: dict[str, Any]) -> tuple[str, ...]:
    since = "" if switch["at"] is None else format_time(switch["at"])
    return (switch["kind"], switch["name"], since, switch["by"], switch["reason"])
