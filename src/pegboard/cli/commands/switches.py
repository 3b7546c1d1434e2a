"""`pegboard switches`: turn tools, a source or all writes off, and on again."""

import json as json_library
from typing import TYPE_CHECKING, Annotated

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.offline_storage import run_offline
from pegboard.cli.options import DataOption, JsonOption, settings
from pegboard.cli.output.kill_switches import warn_if_unmatched
from pegboard.cli.output.tables import format_time, note, say, say_json, table
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from pegboard.core.ports.kill_switch_store import SwitchKind
    from pegboard.features.kill_switches import KillSwitches, SwitchResult

ToolArgument = Annotated[
    str,
    typer.Argument(metavar="[TOOL]", help="A tool, or a glob over names in quotes: 'shop__*'."),
]
SourceOption = Annotated[str, typer.Option("--source", help="All tools of this source.")]
WritesOption = Annotated[
    bool, typer.Option("--writes", help="All tools that may change something, on every source.")
]

switches = typer.Typer(
    help="Turn tools off and on again, on every server, from the next call on.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@switches.command("list")
def list_switches(*, data: DataOption = None, json: JsonOption = False) -> None:
    """List what is turned off."""
    from pegboard.features.kill_switches.schemas import switches_to_dict

    with exit_on_error():
        thrown = run_offline(
            settings(data=data), "GET /switches", lambda opened: opened.switches.list()
        )
    if json:
        say_json(switches_to_dict(thrown))
        return
    table(("kind", "name", "since", "by", "reason"), map(_row, thrown))
    if not thrown:
        note("nothing is turned off")


@switches.command()
def off(
    tool: ToolArgument = "",
    *,
    source: SourceOption = "",
    writes: WritesOption = False,
    reason: Annotated[str, typer.Option(help="Shown to refused callers.")] = "",
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Turn something off; running calls finish, and later ones are refused."""
    with exit_on_error():
        _turn("off", tool, source, reason, data, writes=writes, json=json)


@switches.command()
def on(
    tool: ToolArgument = "",
    *,
    source: SourceOption = "",
    writes: WritesOption = False,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Turn on what was turned off under the same name."""
    with exit_on_error():
        _turn("on", tool, source, "", data, writes=writes, json=json)


def _turn(
    turn: str, tool: str, source: str, reason: str, data: DataOption, *, writes: bool, json: bool
) -> None:
    from pegboard.features.kill_switches.schemas import switch_to_dict

    kind, name = _subject(tool, source, writes=writes)
    wanted = {"turn": turn, "kind": kind, "name": name, "reason": reason}

    async def work(service: "KillSwitches") -> "SwitchResult":
        if turn == "on":
            return await service.on(kind, name)
        return await service.off(kind, name, reason=reason)

    body = json_library.dumps({key: value for key, value in wanted.items() if value})
    chosen = settings(data=data)
    done = run_offline(chosen, "POST /switches", lambda opened: work(opened.switches), body=body)
    if json:
        say_json(switch_to_dict(done))
    else:
        say(f"{turn}: {name or 'all writes'}")
        if turn == "off":
            warn_if_unmatched(chosen, kind, name)


def _subject(tool: str, source: str, *, writes: bool) -> "tuple[SwitchKind, str]":
    if sum(map(bool, (tool, source, writes))) != 1:
        raise InvalidRequest("Name one of these: a tool, --source SOURCE, or --writes.")
    if writes:
        return "writes", ""
    return ("tool", tool) if tool else ("source", source)


def _row(thrown: "SwitchResult") -> tuple[str, ...]:
    switch = thrown.switch
    return (switch.kind, switch.name, format_time(switch.at), switch.by, switch.reason)
