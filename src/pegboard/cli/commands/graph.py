"""`pegboard graph`: which tools need which."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pegboard.cli.atomic_write import write_whole
from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    SvgOption,
    settings,
    with_board,
)
from pegboard.cli.output.dependency_graph import as_mermaid, as_svg, as_tree
from pegboard.cli.output.tables import counted, note, say, say_json, table
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from pegboard.registry.dependencies import DependencyGraph
    from pegboard.runtime import Pegboard

graph = typer.Typer(help="Show and change which tools need which.", no_args_is_help=True)
Direction = Literal["both", "prerequisites", "dependants"]
Tool = Annotated[str, typer.Argument(help="The tool's name or id.")]
Mermaid = Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid flow chart.")]
Names = Annotated[list[str] | None, typer.Option(help="A tool; repeatable.")]
Pairs = Annotated[list[str] | None, typer.Option(help="`PREREQUISITE,DEPENDANT`; repeatable.")]


@graph.command("show")
def show_graph(
    *,
    version: Annotated[int | None, typer.Option(min=0, help="As of this version.")] = None,
    mermaid: Mermaid = False,
    svg: SvgOption = None,
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Show the whole graph."""

    async def find(opened: "Pegboard") -> dict[str, Any]:
        service = opened.dependencies
        return _shown(opened, service.current if version is None else service.at(version))

    with exit_on_error():
        _tell(with_board(settings(board, data), find), mermaid=mermaid, svg=svg, json=json)


@graph.command("around")
def around(
    tool: Tool,
    *,
    depth: Annotated[int, typer.Option(min=1, help="How many edges away.")] = 1,
    direction: Annotated[
        Direction, typer.Option(help="What it needs, what needs it, or both.")
    ] = "both",
    mermaid: Mermaid = False,
    svg: SvgOption = None,
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Show what a tool needs, and what needs it."""

    async def find(opened: "Pegboard") -> dict[str, Any]:
        service = opened.dependencies
        node = service.node(tool)
        return _shown(opened, service.current.around(node, depth=depth, direction=direction))

    with exit_on_error():
        _tell(with_board(settings(board, data), find), mermaid=mermaid, svg=svg, json=json)


@graph.command("breaks")
def breaks(
    tool: Tool,
    *,
    alternatives: Annotated[
        bool, typer.Option("--alternatives", help="Leave out what another tool would serve.")
    ] = False,
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Show what no longer works when a tool fails."""
    from pegboard.features.dependencies import find_impact

    async def find(opened: "Pegboard") -> dict[str, Any]:
        service = opened.dependencies
        certain = opened.tool_health.replacements.find_certain if alternatives else None
        found = find_impact(service.current, service.node(tool), substitutes_of=certain)
        return found.to_dict(service.names(item.tool for item in found.broken))

    with exit_on_error():
        found = with_board(settings(board, data), find)
        if json:
            say_json(found)
            return
        broken = found["breaks"]
        table(("tool", "because it needs"), ((item["tool"], item["because"]) for item in broken))
        for item in found["stand_ins"]:
            note(f"{item['by']} would stand in for {item['tool']}")
        note(counted(len(broken), "tool"))


@graph.command("replacements")
def replacements(
    tool: Tool,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Propose tools that could stand in for a tool, the best first, and say why."""

    async def find(opened: "Pegboard") -> dict[str, Any]:
        return opened.tool_health.replacements.find(tool).to_dict()

    with exit_on_error():
        found = with_board(settings(board, data), find)
        if json:
            say_json(found)
            return
        rows = (
            (it["name"], f"{it['score']:g}", "; ".join(it["reasons"])) for it in found["proposals"]
        )
        table(("tool", "score", "why"), rows)
        note(counted(len(found["proposals"]), "proposal"))


@graph.command("update")
def update(
    *,
    add_node: Names = None,
    remove_node: Names = None,
    add_edge: Pairs = None,
    remove_edge: Pairs = None,
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Change the graph, all of it or nothing (kept with --data)."""
    from pegboard.registry.dependencies import GraphChange

    async def change(opened: "Pegboard") -> dict[str, Any]:
        wanted = GraphChange(
            add_nodes=tuple(add_node or ()),
            remove_nodes=tuple(remove_node or ()),
            add_edges=tuple(map(_pair, add_edge or ())),
            remove_edges=tuple(map(_pair, remove_edge or ())),
        )
        return _shown(opened, await opened.dependencies.update(wanted, origin="cli"))

    with exit_on_error():
        _tell(with_board(settings(board, data), change), mermaid=False, json=json)


def _pair(text: str) -> tuple[str, str]:
    first, separator, second = text.partition(",")
    if not (separator and first.strip() and second.strip()):
        raise InvalidRequest(f"'{text}' is no edge; write 'PREREQUISITE,DEPENDANT'")
    return first.strip(), second.strip()


def _shown(opened: "Pegboard", found: "DependencyGraph") -> dict[str, Any]:
    from pegboard.features.dependencies import graph_dict

    return graph_dict(found, opened.dependencies.names(found.nodes))


def _tell(found: dict[str, Any], *, mermaid: bool, json: bool, svg: Path | None = None) -> None:
    if svg is not None:
        write_whole(svg, as_svg(found))
    if json:
        say_json(found)
        return
    say(as_mermaid(found) if mermaid else as_tree(found))
    nodes, edges = counted(len(found["nodes"]), "tool"), counted(len(found["edges"]), "edge")
    note(f"version {found['version']}: {nodes}, {edges}")
