"""`pegboard approvals`: list and decide approvals of calls."""

import json as json_library
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.offline_storage import http_hint, run_offline, with_data
from pegboard.cli.options import BoardOption, DataOption, JsonOption, settings, with_board
from pegboard.cli.output.tables import format_time, say, say_json, table
from pegboard.cli.output.tables import note as beside
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from pegboard.core.ports.approval_store import Approval
    from pegboard.runtime import Pegboard

T = TypeVar("T")
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
    json: JsonOption = False,
) -> None:
    """List approvals, newest first; by default the pending ones."""
    from pegboard.core.ports.approval_store import ApprovalQuery
    from pegboard.features.approvals.schemas import page_to_dict

    wanted = "" if state == "all" else state
    query = ApprovalQuery(state=wanted, tool=tool, limit=limit, cursor=cursor)
    with exit_on_error():
        page = run_offline(
            settings(data=data), "GET /approvals", lambda opened: opened.approvals.list(query)
        )
    if json:
        say_json(page_to_dict(page))
        return
    table(("id", "state", "tool", "caller", "asked", "reason"), map(_row, page.approvals))
    if page.next_cursor:
        beside(f"more with --cursor {page.next_cursor}")


@approvals.command()
def show(approval: IdArgument, *, data: DataOption = None, json: JsonOption = False) -> None:
    """Show one approval with its arguments, without secrets."""
    with exit_on_error():
        call = f"GET /approvals/{approval}"
        found = run_offline(
            settings(data=data), call, lambda opened: opened.approvals.get(approval)
        )
    _print(found, json=json)


@approvals.command()
def approve(
    approval: IdArgument,
    *,
    note: NoteOption = "",
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Approve a call; it runs when the caller makes it again."""
    _decide(approval, "approve", note, data, json=json)


@approvals.command()
def deny(
    approval: IdArgument,
    *,
    note: NoteOption = "",
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Deny a call; it never runs."""
    _decide(approval, "deny", note, data, json=json)


@approvals.command()
def edit(
    approval: IdArgument,
    *,
    arguments: Annotated[str, typer.Option(help="All of them, as a JSON object.")],
    note: NoteOption = "",
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Approve a call with other arguments, which must be valid for the tool."""
    with exit_on_error():
        chosen = settings(board, data)
        wanted = _object(arguments)

        async def change(opened: "Pegboard") -> "Approval":
            return await opened.approvals.decide(approval, "edit", arguments=wanted, note=note)

        with http_hint(chosen, f"POST /approvals/{approval}", '{"decision": "edit", ...}'):
            decided = with_board(with_data(chosen), change)
    _print(decided, json=json)


def _decide(
    approval: str, decision: Literal["approve", "deny"], note: str, data: Any, *, json: bool
) -> None:
    with exit_on_error():
        decided = run_offline(
            settings(data=data),
            f"POST /approvals/{approval}",
            lambda opened: opened.approvals.decide(approval, decision, note=note),
            body=json_library.dumps({"decision": decision}),
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


def _print(approval: "Approval", *, json: bool) -> None:
    from pegboard.features.approvals.schemas import TIMES, approval_to_dict

    data = approval_to_dict(approval)
    if json:
        say_json(data)
        return
    for key, value in data.items():
        if key in TIMES:
            say(f"{key}: {format_time(value)}")
            continue
        shown = value if isinstance(value, str) else json_library.dumps(value, ensure_ascii=False)
        say(f"{key}: {shown}")


def _row(approval: "Approval") -> tuple[str, ...]:
    return (
        approval.id,
        approval.state,
        approval.tool,
        approval.principal,
        format_time(approval.created_at),
        approval.reason,
    )
