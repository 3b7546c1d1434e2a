"""`pegboard plan GOAL`: which tools in which order; nothing is run."""

from typing import Annotated, Any

import typer

from pegboard.cli.exits import Exit, exits
from pegboard.cli.file_writing import write_whole
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    SvgOption,
    settings,
    with_board,
)
from pegboard.cli.output import note, say, say_json
from pegboard.cli.params import given_params
from pegboard.runtime import Pegboard


def plan(
    goal: Annotated[
        str, typer.Argument(help="A tool, or a task that a tool says it supports.")
    ] = "",
    *,
    capability: Annotated[
        list[str] | None,
        typer.Option("--capability", "-c", help="One step for each, in a fitting order."),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", help="`key=text` or `key:=json`; repeatable."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="End with an error when the plan has faults.")
    ] = False,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid flow chart.")] = False,
    svg: SvgOption = None,
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Make a plan, check it, and say why it looks like this; with --data it is kept to be run."""
    from pegboard.features.plans.showing import show_plan
    from pegboard.planning import PlanRequest

    async def make(opened: Pegboard) -> tuple[dict[str, Any], str]:
        from pegboard.graphs.drawing import tree
        from pegboard.graphs.pictures import chart

        made = await opened.plans.make(request)
        if svg is not None:
            write_whole(svg, chart(made.graph))
        return show_plan(made, opened.registry), tree(made.graph)

    with exits():
        request = PlanRequest(
            goal=goal, capabilities=tuple(capability or ()), params=given_params(param or [])
        )
        told, drawn = with_board(settings(board, data), make)
    if json:
        say_json(told)
    elif mermaid:
        say(told["mermaid"].rstrip())
    else:
        _tell(told, drawn)
    if check and not told["runnable"]:
        raise typer.Exit(Exit.FAILED)


def _tell(told: dict[str, Any], drawn: str) -> None:
    say(drawn.rstrip())
    for choice in told["choices"]:
        say(f"{choice['step']}: {choice['reason']}")
    for step in told["approvals"]:
        say(f"{step}: a person is asked first")
    for text in told["notes"]:
        note(f"note: {text}")
    for fault in told["faults"]:
        note(f"{fault['severity']}: {fault['place']}: {fault['message']}")
