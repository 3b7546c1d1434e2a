"""`pegboard runs`: list, show, resume and cancel runs."""

import json as json_library
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.offline_storage import http_hint
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    SvgOption,
    TimelineOption,
    explicit_options,
    settings,
    with_board,
)
from pegboard.cli.output.tables import format_time, note, say, say_json, table
from pegboard.errors import RunNotFound

if TYPE_CHECKING:
    from pegboard.features.runs import RunView
    from pegboard.runtime import Pegboard, Settings

T = TypeVar("T")
runs = typer.Typer(help="List, show, resume and cancel runs.", no_args_is_help=True)
_NOT_KEPT = (
    "Without --data DIR no run is stored: use the data directory that the runs were started with."
)
State = Literal[
    "pending", "ready", "in_progress", "completed", "failed", "cancelled", "waiting", "paused",
    "skipped", "unknown",
]  # fmt: skip
RunId = Annotated[str, typer.Argument(help="The run's id.")]


@runs.command("list")
def list_runs(
    *,
    state: Annotated[State | None, typer.Option(help="Only runs in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Maximum number of entries.")] = 20,
    cursor: Annotated[str, typer.Option(help="Cursor of the next page.")] = "",
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """List runs, newest first."""
    from pegboard.core.ports.run_store import RunQuery
    from pegboard.runtime.wiring.storage import storage_location

    async def find(opened: "Pegboard") -> "tuple[tuple[RunView, ...], str]":
        page = await opened.runs.list(RunQuery(state=state or "", limit=limit, cursor=cursor))
        return page.runs, page.next_cursor

    with exit_on_error():
        chosen = settings(board, data)
        found, following = _on_board(chosen, find, "GET /runs")
    if json:
        say_json({"runs": [view.to_dict() for view in found], "next_cursor": following or None})
        return
    table(("run", "state", "begun", "ms", "plan", "graph"), map(_row, found))
    if storage_location(chosen) is None:
        note(_NOT_KEPT)
    if following:
        note(f"more with --cursor {following}")


@runs.command("show")
def show_run(
    run_id: RunId,
    *,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid flow chart.")] = False,
    svg: SvgOption = None,
    timeline: TimelineOption = None,
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Show a run: its steps on a time line, and what it waits for."""
    from pegboard.cli.output.runs import print_run, write_drawings
    from pegboard.rendering import text as drawing

    async def find(opened: "Pegboard") -> "RunView":
        return await opened.runs.get(run_id)

    with exit_on_error():
        view = _on_board(settings(board, data), find, f"GET /runs/{run_id}")
        write_drawings(view, svg=svg, timeline=timeline)
    if json:
        say_json(view.to_dict())
    elif mermaid:
        say(drawing.mermaid(view.graph, view.result).rstrip())
    else:
        print_run(view, options=explicit_options(board, data))


@runs.command("pause")
def pause_run(
    run_id: RunId, *, board: BoardOption = None, data: DataOption = None, json: JsonOption = False
) -> None:
    """Pause a run: running steps finish, and no new step starts."""
    from pegboard.cli.output.runs import pause_run

    async def pause(opened: "Pegboard") -> "RunView":
        return await pause_run(opened, run_id)

    with exit_on_error():
        view = _on_board(settings(board, data), pause, f"POST /runs/{run_id}/pause")
    if json:
        say_json(view.to_dict())
        return
    say(f"{view.id}  {view.result.state.value}")
    if view.run.finished_at is None:
        note(f"resume it: pegboard runs resume {view.id}{explicit_options(board, data)}")
    else:
        note("it has ended and cannot be paused")


@runs.command("resume")
def resume_run(
    run_id: RunId, *, board: BoardOption = None, data: DataOption = None, json: JsonOption = False
) -> None:
    """Resume a run that was paused or whose process died; completed steps are not repeated."""
    from pegboard.cli.output.runs import print_and_exit, watch_run

    async def resume(opened: "Pegboard") -> "RunView":
        last = await opened.runs.last_event(run_id)
        await opened.runs.resume(run_id)
        return await watch_run(opened, run_id, after=last, quiet=json)

    with exit_on_error():
        view = _on_board(settings(board, data), resume, f"POST /runs/{run_id}/resume")
    print_and_exit(view, json=json, options=explicit_options(board, data))


@runs.command("cancel")
def cancel_run(
    run_id: RunId, *, board: BoardOption = None, data: DataOption = None, json: JsonOption = False
) -> None:
    """Cancel a run."""

    async def cancel(opened: "Pegboard") -> "RunView":
        await opened.runs.cancel(run_id)
        return await opened.runs.wait(run_id)

    with exit_on_error():
        view = _on_board(settings(board, data), cancel, f"POST /runs/{run_id}/cancel")
    say_json(view.to_dict()) if json else say(f"{view.id}  {view.result.state.value}")


@runs.command("answer")
def answer_run(
    run_id: RunId,
    pending_id: Annotated[
        str, typer.Argument(help="The pending question, as `runs show` names it.")
    ],
    answer: Annotated[str, typer.Argument(help="JSON, or else text.")],
    *,
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Answer a question of a run, and resume it."""
    from pegboard.cli.output.runs import print_and_exit, watch_run

    async def give(opened: "Pegboard") -> "RunView":
        last = await opened.runs.last_event(run_id)
        await opened.runs.answer(run_id, pending_id, given)
        return await watch_run(opened, run_id, after=last, quiet=json)

    given = _value(answer)
    body = json_library.dumps({"pending_id": pending_id, "answer": given})
    with exit_on_error():
        view = _on_board(settings(board, data), give, f"POST /runs/{run_id}/answers", body)
    print_and_exit(view, json=json, options=explicit_options(board, data))


@runs.command("send")
def send_to_run(
    run_id: RunId,
    event: Annotated[
        str, typer.Argument(help="The event that the run waits for, or will wait for.")
    ],
    message: Annotated[str, typer.Argument(help="JSON, or else text.")] = "null",
    *,
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Send a run the message that a step waits for, and resume it."""
    from pegboard.cli.output.runs import print_and_exit, watch_run

    async def send(opened: "Pegboard") -> "RunView":
        last = await opened.runs.last_event(run_id)
        await opened.runs.send(run_id, event, given)
        return await watch_run(opened, run_id, after=last, quiet=json)

    given = _value(message)
    body = json_library.dumps({"event": event, "message": given})
    with exit_on_error():
        view = _on_board(settings(board, data), send, f"POST /runs/{run_id}/messages", body)
    print_and_exit(view, json=json, options=explicit_options(board, data))


def _on_board(
    chosen: "Settings", use: "Callable[[Pegboard], Awaitable[T]]", call: str, body: str = ""
) -> T:
    """Use the board; while a server has its data, name the equivalent request.

    Raises:
        RunNotFound: There is no such run; the message says so if no run is stored at all.
    """
    from pegboard.runtime.wiring.storage import storage_location

    with http_hint(chosen, call, body):
        try:
            return with_board(chosen, use, whole=False)
        except RunNotFound as error:
            if storage_location(chosen) is not None:
                raise
            raise RunNotFound(f"{error.message} {_NOT_KEPT}") from error


def _value(text: str) -> Any:
    try:
        return json_library.loads(text)
    except ValueError:
        return text


def _row(view: "RunView") -> tuple[str, ...]:
    return (
        view.id,
        view.run.state.value,
        format_time(view.run.start.created_at),
        f"{view.result.duration_ms:.0f}" if view.run.finished_at is not None else "",
        view.run.plan_id,
        view.graph.name,
    )
