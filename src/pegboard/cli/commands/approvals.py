"""`pegboard approvals`: list and decide approvals of calls."""

import json as json_library
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    settings,
    with_client,
    with_data,
)
from pegboard.cli.output.tables import format_time, say, say_json, table
from pegboard.cli.output.tables import note as beside
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from pegboard.runtime import Settings

State = Literal["pending", "approved", "denied", "edited", "expired", "used", "withdrawn", "all"]
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The approval, as `ap_...`.")]
NoteOption = Annotated[str, typer.Option(help="Note for the caller.")]

approvals = typer.Typer(
    help="List and decide approvals of calls.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@approvals.command("list")
def list_approvals(
    *,
    state: Annotated[State, typer.Option(help="Only approvals in this state.")] = "pending",
    tool: Annotated[str, typer.Option(help="Only calls of this tool.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of entries.")] = 20,
    cursor: Annotated[str, typer.Option(help="Cursor of the next page.")] = "",
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List approvals, newest first; by default the pending ones."""
    wanted = "" if state == "all" else state
    with exit_on_error():
        page = with_client(
            settings(data=data, url=url),
            lambda client: client.list_approvals(
                state=wanted, tool=tool, limit=limit, cursor=cursor
            ),
            opens="stored",
        )
    if json:
        say_json(page)
        return
    table(("id", "state", "tool", "caller", "asked", "reason"), map(_row, page["approvals"]))
    if page["next_cursor"]:
        beside(f"more with --cursor {page['next_cursor']}")


@approvals.command()
def show(
    approval: IdArgument,
    *,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Show one approval with its arguments, without secrets."""
    with exit_on_error():
        found = with_client(
            settings(data=data, url=url),
            lambda client: client.show_approval(approval),
            opens="stored",
        )
    _print(found, json=json)


@approvals.command()
def approve(
    approval: IdArgument,
    *,
    scope: Annotated[
        Literal["once", "arguments", "tool"],
        typer.Option(
            "--for",
            help="What it holds for: this call; or, for the rest of its conversation, calls with "
            "these arguments, or of this tool.",
        ),
    ] = "once",
    note: NoteOption = "",
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Approve a call; it runs when the caller makes it again."""
    with exit_on_error():
        if scope == "once":
            _decide(approval, "approve", note, settings(board, data, url), json=json)
            return
        chosen = settings(board, data, url)
        decided = with_client(
            chosen if chosen.url else with_data(chosen),
            lambda client: client.decide_approval(approval, "approve", note=note, scope=scope),
        )
    _print(decided, json=json)


@approvals.command()
def deny(
    approval: IdArgument,
    *,
    note: NoteOption = "",
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Deny a call; it never runs."""
    with exit_on_error():
        _decide(approval, "deny", note, settings(data=data, url=url), json=json)


@approvals.command()
def edit(
    approval: IdArgument,
    *,
    arguments: Annotated[str, typer.Option(help="All of them, as a JSON object.")],
    note: NoteOption = "",
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Approve a call with other arguments, which must be valid for the tool."""
    with exit_on_error():
        chosen = settings(board, data, url)
        wanted = _object(arguments)
        decided = with_client(
            chosen if chosen.url else with_data(chosen),
            lambda client: client.decide_approval(approval, "edit", arguments=wanted, note=note),
        )
    _print(decided, json=json)


def _decide(
    approval: str,
    decision: Literal["approve", "deny"],
    note: str,
    chosen: "Settings",
    *,
    json: bool,
) -> None:
    decided = with_client(
        chosen,
        lambda client: client.decide_approval(approval, decision, note=note),
        opens="stored",
    )
    _print(decided, json=json)


def _object(text: str) -> dict[str, Any]:
    try:
        value: Any = json_library.loads(text)
    except ValueError as error:
        raise InvalidRequest(f"--arguments: this is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidRequest("--arguments: write a JSON object")
    return value  # pyright: ignore[reportUnknownVariableType]  # JSON objects have text as keys


def _print(approval: dict[str, Any], *, json: bool) -> None:
    from pegboard.features.approvals.schemas import TIMES

    if json:
        say_json(approval)
        return
    for key, value in approval.items():
        if key in TIMES:
            say(f"{key}: {format_time(value)}")
            continue
        shown = value if isinstance(value, str) else json_library.dumps(value, ensure_ascii=False)
        say(f"{key}: {shown}")


def _row(approval: dict[str, Any]) -> tuple[str, ...]:
    return (
        approval["id"],
        approval["state"],
        approval["tool"],
        approval.get("principal_handle") or approval["principal"],
        format_time(approval["created_at"]),
        approval.get("reason", ""),
    )
