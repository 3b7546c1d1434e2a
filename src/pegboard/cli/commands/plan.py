"""`pegboard plan GOAL`: which tools in which order; nothing is run."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.cli.atomic_write import write_whole
from pegboard.cli.exit_codes import Exit, exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    SvgOption,
    settings,
    with_board,
)
from pegboard.cli.output.tables import note, say, say_json
from pegboard.cli.params import given_params
from pegboard.cli.plan_files import is_plan_file, read_plan_file
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from pegboard.core.graph import Graph
    from pegboard.planning import PlanRequest
    from pegboard.runtime import Pegboard


def plan(
    goal: Annotated[
        str,
        typer.Argument(help="A tool, a task that a tool says it supports, or a file to check."),
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
    """Make a plan, check it, and say why it looks like this; with --data it is kept to be run.

    A file with a plan or a graph is checked, and not kept.
    """
    from pegboard.planning import PlanRequest

    with exit_on_error():
        params = given_params(param or [])
        if is_plan_file(goal):
            if capability or params:
                raise InvalidRequest("A file says all of a plan: leave -c and -p away.")
            document = read_plan_file(goal)
            use = partial(_checked, document, svg)
        else:
            request = PlanRequest(goal=goal, capabilities=tuple(capability or ()), params=params)
            use = partial(_made, request, svg)
        told, drawn = with_board(settings(board, data), use)
    if json:
        say_json(told)
    elif mermaid:
        say(told["mermaid"].rstrip())
    else:
        _tell(told, drawn)
    if check and not told["runnable"]:
        raise typer.Exit(Exit.FAILED)


async def _made(
    request: "PlanRequest", svg: Path | None, opened: "Pegboard"
) -> tuple[dict[str, Any], str]:
    from pegboard.features.plans.views import show_plan
    from pegboard.rendering.text import mermaid

    made = await opened.plans.make(request)
    return show_plan(made, mermaid), _drawn(made.graph, svg)


async def _checked(
    document: dict[str, Any], svg: Path | None, opened: "Pegboard"
) -> tuple[dict[str, Any], str]:
    from pegboard.features.plans.views import show_check
    from pegboard.rendering.text import mermaid

    found = opened.plans.check(document)
    drawn = "" if found.graph is None else _drawn(found.graph, svg)
    return {"choices": [], "notes": [], **show_check(found, mermaid)}, drawn


def _drawn(graph: "Graph", svg: Path | None) -> str:
    from pegboard.rendering.svg import chart
    from pegboard.rendering.text import tree

    if svg is not None:
        write_whole(svg, chart(graph))
    return tree(graph)


def _tell(told: dict[str, Any], drawn: str) -> None:
    if drawn:
        say(drawn.rstrip())
    for choice in told["choices"]:
        say(f"{choice['step']}: {choice['reason']}")
    for step in told["approvals"]:
        say(f"{step}: a person is asked first")
    for text in told["notes"]:
        note(f"note: {text}")
    for fault in told["faults"]:
        note(f"{fault['severity']}: {_where(fault)}: {fault['message']}")


def _where(fault: dict[str, Any]) -> str:
    is_named = fault["place"].startswith("steps.") or not fault["step"]
    return fault["place"] if is_named else f"{fault['step']} ({fault['place']})"
