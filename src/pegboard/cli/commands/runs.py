"""`pegboard runs`: list, show, resume and cancel runs."""

import json as json_library
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    SvgOption,
    TimelineOption,
    UrlOption,
    explicit_options,
    keeps_data,
    settings,
    with_client,
)
from pegboard.cli.output.tables import format_time, note, say, say_json, table
from pegboard.errors import InvalidRequest, RunNotFound

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient
    from pegboard.runtime import Settings

T = TypeVar("T")
runs = typer.Typer(help="List, show, resume and cancel runs.", no_args_is_help=True)
_NOT_KEPT = (
    "Without a data directory no run is stored: use the one that the runs were started with."
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
    assigned: Annotated[
        bool, typer.Option("--assigned", help="Runs of others that ask you, instead of yours.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Maximum number of entries.")] = 20,
    cursor: Annotated[str, typer.Option(help="Cursor of the next page.")] = "",
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List runs, newest first."""
    with exit_on_error():
        chosen = settings(board, data, url)
        page = _on_board(
            chosen,
            lambda client: client.list_runs(
                state=state or "", limit=limit, cursor=cursor, assigned=assigned
            ),
        )
    if json:
        say_json(page)
        return
    if assigned:
        from pegboard.cli.output.runs import list_questions

        table(("run", "begun", "graph", "question", "asks"), list_questions(page["runs"]))
    else:
        table(("run", "state", "begun", "ms", "plan", "graph"), map(_row, page["runs"]))
    if not keeps_data(chosen):
        note(_NOT_KEPT)
    if page["next_cursor"]:
        note(f"more with --cursor {page['next_cursor']}")


@runs.command("show")
def show_run(
    run_id: RunId,
    *,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid flow chart.")] = False,
    svg: SvgOption = None,
    timeline: TimelineOption = None,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Show a run: its steps on a time line, and what it waits for."""
    from pegboard.cli.output.runs import print_run, write_drawings

    async def find(client: "BoardClient") -> tuple[dict[str, Any], str]:
        found = await client.show_run(run_id)
        await write_drawings(client, run_id, svg=svg, timeline=timeline)
        return found, await client.draw_run(run_id, "mermaid") if mermaid else ""

    with exit_on_error():
        found, drawn = _on_board(settings(board, data, url), find)
    if json:
        say_json(found)
    elif mermaid:
        say(drawn.rstrip())
    else:
        print_run(found, options=explicit_options(board, data, url))


@runs.command("pause")
def pause_run(
    run_id: RunId,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Pause a run: running steps finish, and no new step starts."""
    from pegboard.cli.output.runs import pause_run

    with exit_on_error():
        run = _on_board(settings(board, data, url), lambda client: pause_run(client, run_id))
    if json:
        say_json(run)
        return
    say(f"{run['run_id']}  {run['state']}")
    if run["finished_at"] is None:
        note(f"resume it: pegboard runs resume {run_id}{explicit_options(board, data, url)}")
    else:
        note("it has ended and cannot be paused")


@runs.command("resume")
def resume_run(
    run_id: RunId,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Resume a run that was paused or whose process died; completed steps are not repeated."""
    from pegboard.cli.output.runs import QuestionPrompts, print_and_exit, watch_run

    async def resume(client: "BoardClient") -> dict[str, Any]:
        last = await client.last_event(run_id)
        await client.control_run(run_id, "resume")
        return await watch_run(client, run_id, after=last, quiet=json, questions=questions)

    options = explicit_options(board, data, url)
    questions = QuestionPrompts(options=options, may_prompt=not json)
    with exit_on_error():
        run = _on_board(settings(board, data, url), resume)
    print_and_exit(run, json=json, options=options)


@runs.command("cancel")
def cancel_run(
    run_id: RunId,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Cancel a run."""

    async def cancel(client: "BoardClient") -> dict[str, Any]:
        await client.control_run(run_id, "cancel")
        return await client.wait_for_run(run_id)

    with exit_on_error():
        run = _on_board(settings(board, data, url), cancel)
    say_json(run) if json else say(f"{run['run_id']}  {run['state']}")


@runs.command("answer")
def answer_run(
    run_id: RunId,
    pending_id: Annotated[
        str, typer.Argument(help="The pending question, as `runs show` names it.")
    ],
    answer: Annotated[
        str,
        typer.Argument(
            help="JSON, or else text. What a tool asks is prompted for without it.",
            show_default=False,
        ),
    ] = "",
    *,
    decline: Annotated[
        bool, typer.Option("--decline", help="Refuse to answer what a tool asks.")
    ] = False,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Answer a question of a run or of a tool that it calls, and resume it."""
    from pegboard.cli.output.questions import read_reply
    from pegboard.cli.output.runs import QuestionPrompts, print_and_exit, watch_run

    async def give(client: "BoardClient") -> dict[str, Any]:
        run = await client.show_run(run_id)
        asked = [item for item in run.get("questions", ()) if item["id"] == pending_id]
        last = await client.last_event(run_id)
        if asked:
            action, content = read_reply(asked[0], answer, decline=decline)
            await client.answer_run_question(run_id, pending_id, action, content)
        else:
            if decline or not answer:
                raise InvalidRequest(f"'{pending_id}' needs an ANSWER: no tool asks it now.")
            await client.answer_run(run_id, pending_id, _value(answer))
        return await watch_run(client, run_id, after=last, quiet=json, questions=questions)

    options = explicit_options(board, data, url)
    questions = QuestionPrompts(options=options, may_prompt=not json)
    with exit_on_error():
        run = _on_board(settings(board, data, url), give)
    print_and_exit(run, json=json, options=options)


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
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Send a run the message that a step waits for, and resume it."""
    from pegboard.cli.output.runs import QuestionPrompts, print_and_exit, watch_run

    async def send(client: "BoardClient") -> dict[str, Any]:
        last = await client.last_event(run_id)
        await client.send_to_run(run_id, event, given)
        return await watch_run(client, run_id, after=last, quiet=json, questions=questions)

    given = _value(message)
    options = explicit_options(board, data, url)
    questions = QuestionPrompts(options=options, may_prompt=not json)
    with exit_on_error():
        run = _on_board(settings(board, data, url), send)
    print_and_exit(run, json=json, options=options)


def _on_board(chosen: "Settings", use: "Callable[[BoardClient], Awaitable[T]]") -> T:
    """Use the board.

    Raises:
        RunNotFound: There is no such run; the message says so if no run is stored at all.
    """
    try:
        return with_client(chosen, use, opens="named")
    except RunNotFound as error:
        if keeps_data(chosen):
            raise
        raise RunNotFound(f"{error.message} {_NOT_KEPT}") from error


def _value(text: str) -> Any:
    try:
        return json_library.loads(text)
    except ValueError:
        return text


def _row(run: dict[str, Any]) -> tuple[str, ...]:
    return (
        run["run_id"],
        run["state"],
        format_time(run["created_at"]),
        f"{run['duration_ms']:.0f}" if run["finished_at"] is not None else "",
        run["plan_id"] or "",
        run["graph"],
    )
