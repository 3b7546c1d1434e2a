"""`pegboard history`: recorded calls."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pegboard.cli.exit_codes import Exit, exit_on_error
from pegboard.cli.options import DataOption, JsonOption, UrlOption, settings, with_client
from pegboard.cli.output.tables import format_time, note, say, say_json, table


def history(
    *,
    tool: Annotated[str, typer.Option(help="Only calls of this tool.")] = "",
    source: Annotated[str, typer.Option(help="Only calls of this source's tools.")] = "",
    status: Annotated[
        str, typer.Option(help="Only `completed`, `failed`, `denied`, `invalid`, ...")
    ] = "",
    run: Annotated[str, typer.Option(help="Only calls of this run.")] = "",
    instead_of: Annotated[
        str, typer.Option(help="Only calls made as a substitute for this tool.")
    ] = "",
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Only writes whose outcome is unknown.")
    ] = False,
    error: Annotated[str, typer.Option(help="The operator's detail behind an error id.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of entries.")] = 20,
    cursor: Annotated[str, typer.Option(help="Cursor of the next page.")] = "",
    board: Annotated[Path | None, typer.Option("--board", "-b", hidden=True)] = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Show recorded calls, newest first.

    This works while a server is running.
    """
    from pegboard.core.ports.call_stores import HistoryQuery

    query = HistoryQuery(
        tool=tool,
        source=source,
        status=status,
        run_id=run,
        instead_of=instead_of,
        unfinished=unfinished,
        limit=limit,
        cursor=cursor,
    )
    with exit_on_error():
        chosen = settings(board, data, url)
        if error:
            detail = with_client(chosen, lambda client: client.show_error(error), opens="history")
            _show_detail(detail, error, json=json)
            return
        page = with_client(chosen, lambda client: client.list_calls(query), opens="history")
    if json:
        say_json(page)
        return
    table(("time", "tool", "status", "ms", "caller", "error"), map(_row, page["calls"]))
    if not page["calls"]:
        note("no recorded call matches")
    if page["next_cursor"]:
        note(f"more with --cursor {page['next_cursor']}")


def _show_detail(detail: dict[str, Any] | None, error_id: str, *, json: bool) -> None:
    if detail is None:
        note(f"pegboard: there is no error {error_id}")
        raise typer.Exit(Exit.WRONG_USE)
    if json:
        say_json(detail)
        return
    for key, value in detail.items():
        say(f"{key}: {value}")


def _row(call: dict[str, Any]) -> tuple[str, ...]:
    error = call.get("error_code") or ""
    if call.get("error_id"):
        error = f"{error} ({call['error_id']})"
    duration = call.get("duration_ms")
    place = f" (for {call['instead_of']})" if call.get("instead_of") else ""
    return (
        format_time(call["started_at"]),
        f"{call['tool']}{place}",
        call["status"],
        "" if duration is None else f"{duration:.1f}",
        call["principal"],
        error,
    )
