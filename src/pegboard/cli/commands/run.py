"""`pegboard run PLAN`: run a stored plan, or one in a file, to its end."""

from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

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
from pegboard.cli.pairs import read_pairs
from pegboard.cli.plan_files import (
    is_plan_file,
    read_plan_file,
    refuse_extra_arguments,
)
from pegboard.errors import PlanNotFound

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient

CONTEXT = {"allow_extra_args": True}


def run(
    ctx: typer.Context,
    plan: Annotated[
        str,
        typer.Argument(
            help="The id of a plan that `pegboard plan GOAL` has stored, or a JSON or YAML file "
            "with a plan or a graph; not a goal."
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
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Run a plan and print a time line.

    A run whose process died is resumed by `pegboard runs resume`. A goal is planned first:
    `pegboard plan GOAL --run`.
    """
    from pegboard.cli.output.runs import QuestionPrompts, print_and_exit, watch_run, write_drawings

    async def play(client: "BoardClient") -> dict[str, Any]:
        try:
            begun, last = await client.start_run(document or plan, params, key=key)
        except PlanNotFound as error:
            raise PlanNotFound(f"{error.message} {_instead(plan, is_kept=is_kept)}") from error
        run_id = begun["run_id"]
        questions = QuestionPrompts(options=options, is_kept=is_kept, may_prompt=not json)
        ended = await watch_run(client, run_id, after=last, quiet=json, questions=questions)
        await write_drawings(client, run_id, svg=svg, timeline=timeline)
        return ended

    options = explicit_options(board, data, url)
    with exit_on_error():
        refuse_extra_arguments(ctx.args)
        chosen = settings(board, data, url, keep="write")
        is_kept = keeps_data(chosen)
        params = read_pairs(param or [], option="--param")
        document = read_plan_file(plan) if is_plan_file(plan) else None
        ended = with_client(chosen, play, opens="named")
    print_and_exit(ended, json=json, options=options, is_kept=is_kept)


def _instead(named: str, *, is_kept: bool) -> str:
    """The command to suggest when there is no such plan."""
    where = "" if is_kept else "Without a data directory no plan is stored. "
    said = quote(named)
    return f"{where}If '{named[:100]}' is a goal, plan and run it: pegboard plan {said} --run"
