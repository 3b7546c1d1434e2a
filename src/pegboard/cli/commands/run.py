"""`pegboard run PLAN`: run a stored plan, or one in a file, to its end."""

from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from pegboard.cli.exit_codes import exit_on_error
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
from pegboard.cli.plan_files import is_plan_file, parse_params, read_plan_file
from pegboard.errors import GraphInvalid, PlanNotFound

if TYPE_CHECKING:
    from pegboard.features.runs import RunView
    from pegboard.runtime import Pegboard, Settings


def run(
    plan: Annotated[
        str,
        typer.Argument(
            help="The id of a plan stored by `pegboard plan GOAL --data DIR`, or a JSON or YAML "
            "file with a plan or a graph; not a goal."
        ),
    ],
    *,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", help="`key=text` or `key:=json`; repeatable."),
    ] = None,
    key: Annotated[
        str, typer.Option(help="Idempotency key: the same key resumes the same run.")
    ] = "",
    svg: SvgOption = None,
    timeline: TimelineOption = None,
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Run a plan and print a time line. With --data it can be resumed after a crash.

    A goal is planned first: `pegboard plan GOAL --json > plan.json`, then `pegboard run plan.json`.
    """
    from pegboard.cli.output.runs import print_and_exit, watch_run, write_drawings
    from pegboard.runtime.wiring.storage import storage_location

    async def start(opened: "Pegboard") -> "RunView":
        if document is None:
            try:
                return await opened.runs.start_plan(plan, params, key=key)
            except PlanNotFound as error:
                raise PlanNotFound(f"{error.message} {_instead(plan, chosen)}") from error
        from pegboard.graphs.documents.read import is_plan, read_graph

        graph, as_plan = read_graph(document), is_plan(document)
        return await opened.runs.start_graph(graph, params, key=key, as_plan=as_plan)

    async def play(opened: "Pegboard") -> "RunView":
        began = opened.registry.environment.now()
        try:
            view = await start(opened)
        except GraphInvalid:
            await opened.wait_for_sources()  # what was meant by a wrong name may be listed only now
            view = await start(opened)
        is_new = view.run.start.created_at >= began
        last = 0 if is_new else await opened.runs.last_event(view.id)
        return await watch_run(opened, view.id, after=last, quiet=json)

    with exit_on_error():
        chosen = settings(board, data)
        params = parse_params(param or [])
        document = read_plan_file(plan) if is_plan_file(plan) else None
        view = with_board(chosen, play, whole=False)
        write_drawings(view, svg=svg, timeline=timeline)
    is_kept = storage_location(chosen) is not None
    print_and_exit(view, json=json, options=explicit_options(board, data), is_kept=is_kept)


def _instead(named: str, chosen: "Settings") -> str:
    """The command to suggest when there is no such plan."""
    from pegboard.runtime.wiring.storage import storage_location

    where = "" if storage_location(chosen) is not None else "Without --data DIR no plan is stored. "
    said = quote(named)
    return (
        f"{where}If '{named[:100]}' is a goal, make a plan of it first: "
        f"pegboard plan {said} --json > plan.json && pegboard run plan.json"
    )
