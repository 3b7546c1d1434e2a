"""`pegboard plan GOAL`: make and check a plan, and run it on request."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.cli.atomic_write import write_file
from pegboard.cli.exit_codes import Exit, exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    SvgOption,
    UrlOption,
    explicit_options,
    keeps_data,
    settings,
    with_client,
)
from pegboard.cli.output.tables import note, say, say_json
from pegboard.cli.pairs import read_pairs
from pegboard.cli.plan_files import (
    is_plan_file,
    read_plan_file,
    refuse_extra_arguments,
)
from pegboard.errors import GraphInvalid, InvalidRequest

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient
    from pegboard.runtime import Settings

CONTEXT = {"allow_extra_args": True}


def plan(
    ctx: typer.Context,
    goal: Annotated[
        str,
        typer.Argument(help="A tool, a task that a tool supports, or a plan file to check."),
    ] = "",
    *,
    capability: Annotated[
        list[str] | None,
        typer.Option(
            "--capability", "-c", help="A capability, one step each, in a suitable order."
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", help="`key=text` or `key:=json`; repeatable."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with an error when the plan has faults.")
    ] = False,
    run: Annotated[
        bool,
        typer.Option("--run", help="Run the plan after showing it, as `pegboard run` does."),
    ] = False,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid flow chart.")] = False,
    svg: SvgOption = None,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Make a plan, check it and explain it.

    The plan is stored and can be run by its id. A file with a plan or a graph is checked, and not
    stored. With --run the plan is run once it has been shown, unless it has faults; --json then
    prints both as `plan` and `run`.
    """
    from pegboard.planning import PlanRequest

    def show(told: dict[str, Any], document: dict[str, Any] | None) -> None:
        drawn = _draw(told if document is None else document, svg)
        if json and not run:
            say_json(told)
        elif mermaid:
            say(told["mermaid"].rstrip())
        elif not json:
            _tell(told, drawn)

    async def work(client: "BoardClient") -> tuple[dict[str, Any], dict[str, Any] | None]:
        if document is None:
            request = PlanRequest(goal=goal, capabilities=tuple(capability or ()), params=params)
            told = await client.make_plan(request)
        else:
            told = await client.check_plan(document)
        show(told, document)
        if not run or not told["runnable"]:
            return told, None
        is_kept = keeps_data(chosen)
        plan = document or told["plan_id"]
        return told, await _run(client, plan, params, json=json, options=options, is_kept=is_kept)

    options = explicit_options(board, data, url)
    with exit_on_error():
        refuse_extra_arguments(ctx.args)
        _require_one_aim(goal, capability or [])
        chosen = settings(board, data, url, keep="write")
        params = read_pairs(param or [], option="--param")
        document = _read(goal, is_complete=not capability and (run or not params))
        told, ended = with_client(chosen, work)
    if run:
        _end_run(told, ended, json=json, options=options, chosen=chosen)
    if check and not told["runnable"]:
        raise typer.Exit(Exit.FAILED)


def _require_one_aim(goal: str, capabilities: list[str]) -> None:
    if not goal and not capabilities:
        raise InvalidRequest(
            "Name a goal, which is a tool or a task that a tool supports, or capabilities with -c. "
            "'pegboard tools' lists the tools."
        )
    if goal and capabilities and not is_plan_file(goal):
        raise InvalidRequest("Name either a goal or capabilities (-c), not both.")


def _read(goal: str, *, is_complete: bool) -> dict[str, Any] | None:
    """The document of a plan file; None for a goal."""
    if not is_plan_file(goal):
        return None
    if not is_complete:
        raise InvalidRequest(
            "A plan file is complete; `-c` cannot be combined with it, and `-p` only with --run."
        )
    return read_plan_file(goal)


async def _run(
    client: "BoardClient",
    plan: str | dict[str, Any],
    params: dict[str, Any],
    *,
    json: bool,
    options: str,
    is_kept: bool,
) -> dict[str, Any]:
    from pegboard.cli.output.runs import QuestionPrompts, watch_run

    questions = QuestionPrompts(options=options, is_kept=is_kept, may_prompt=not json)
    begun, last = await client.start_run(plan, params if isinstance(plan, dict) else {}, key="")
    run_id = begun["run_id"]
    return await watch_run(client, run_id, after=last, quiet=json, questions=questions)


def _end_run(
    told: dict[str, Any],
    ended: dict[str, Any] | None,
    *,
    json: bool,
    options: str,
    chosen: "Settings",
) -> None:
    """Print the run and exit with its code; a plan with faults was not run."""
    from pegboard.cli.output.runs import exit_code_of, print_run

    if json:
        say_json({"plan": told, "run": ended})
    elif ended is not None:
        print_run(ended, options=options, is_kept=keeps_data(chosen))
    else:
        note("pegboard: the plan has faults, so it was not run")
    raise typer.Exit(Exit.FAILED if ended is None else exit_code_of(ended))


def _draw(document: dict[str, Any], svg: Path | None) -> str:
    """Draw a plan as a tree, and as an SVG; empty for one that cannot be read."""
    from pegboard.graphs.documents.read import read_graph
    from pegboard.rendering.svg import chart
    from pegboard.rendering.text import tree

    fields = ("plan_id", "name", "steps") if "choices" in document else tuple(document)
    try:
        graph = read_graph({name: document[name] for name in fields if name in document})
    except GraphInvalid:
        return ""
    if svg is not None:
        write_file(svg, chart(graph))
    return tree(graph)


def _tell(told: dict[str, Any], drawn: str) -> None:
    if drawn:
        say(drawn.rstrip())
    for choice in told.get("choices", ()):
        say(f"{choice['step']}: {choice['reason']}")
    for step in told["approvals"]:
        say(f"{step}: a person is asked first")
    for text in told.get("notes", ()):
        note(f"note: {text}")
    for fault in told["faults"]:
        note(f"{fault['severity']}: {_where(fault)}: {fault['message']}")


def _where(fault: dict[str, Any]) -> str:
    is_named = fault["place"].startswith("steps.") or not fault["step"]
    return fault["place"] if is_named else f"{fault['step']} ({fault['place']})"
