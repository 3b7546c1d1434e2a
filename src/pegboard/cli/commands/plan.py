"""`pegboard plan GOAL`: make and check a plan, without running it."""

from functools import partial
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
    settings,
    with_board,
)
from pegboard.cli.output.tables import note, say, say_json
from pegboard.cli.plan_files import is_plan_file, parse_params, read_plan_file
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from pegboard.core.graph import Graph
    from pegboard.planning import PlanRequest
    from pegboard.runtime import Pegboard


def plan(
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
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid flow chart.")] = False,
    svg: SvgOption = None,
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Make a plan, check it and explain it; with --data it is stored and can be run.

    A file with a plan or a graph is checked, and not stored.
    """
    from pegboard.planning import PlanRequest

    with exit_on_error():
        params = parse_params(param or [])
        if is_plan_file(goal):
            if capability or params:
                raise InvalidRequest(
                    "A plan file is complete; `-c` and `-p` cannot be combined with it."
                )
            document = read_plan_file(goal)
            use = partial(_check, document, svg)
        else:
            request = PlanRequest(goal=goal, capabilities=tuple(capability or ()), params=params)
            use = partial(_make, request, svg)
        told, drawn = with_board(settings(board, data), use)
    if json:
        say_json(told)
    elif mermaid:
        say(told["mermaid"].rstrip())
    else:
        _tell(told, drawn)
    if check and not told["runnable"]:
        raise typer.Exit(Exit.FAILED)


async def _make(
    request: "PlanRequest", svg: Path | None, opened: "Pegboard"
) -> tuple[dict[str, Any], str]:
    from pegboard.features.plans.views import show_plan
    from pegboard.rendering.text import mermaid

    made = await opened.plans.make(request)
    return show_plan(made, mermaid), _draw(made.graph, svg)


async def _check(
    document: dict[str, Any], svg: Path | None, opened: "Pegboard"
) -> tuple[dict[str, Any], str]:
    from pegboard.features.plans.views import show_check
    from pegboard.rendering.text import mermaid

    found = opened.plans.check(document)
    drawn = "" if found.graph is None else _draw(found.graph, svg)
    return {"choices": [], "notes": [], **show_check(found, mermaid)}, drawn


def _draw(graph: "Graph", svg: Path | None) -> str:
    from pegboard.rendering.svg import chart
    from pegboard.rendering.text import tree

    if svg is not None:
        write_file(svg, chart(graph))
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
