"""`pegboard graph`: dependencies between tools."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pegboard.cli.atomic_write import write_file
from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    SvgOption,
    UrlOption,
    settings,
    with_client,
)
from pegboard.cli.output.dependency_graph import as_mermaid, as_svg, as_tree
from pegboard.cli.output.tables import count_noun, note, say, say_json, table
from pegboard.errors import InvalidRequest

graph = typer.Typer(help="Show and change the dependencies between tools.", no_args_is_help=True)
Direction = Literal["both", "prerequisites", "dependants"]
Tool = Annotated[str, typer.Argument(help="The tool's name or id.")]
Mermaid = Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid flow chart.")]
Names = Annotated[list[str] | None, typer.Option(help="A tool; repeatable.")]
Pairs = Annotated[list[str] | None, typer.Option(help="`PREREQUISITE,DEPENDANT`; repeatable.")]


@graph.command("show")
def show_graph(
    *,
    version: Annotated[int | None, typer.Option(min=0, help="The graph at this version.")] = None,
    mermaid: Mermaid = False,
    svg: SvgOption = None,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Show the whole graph."""
    with exit_on_error():
        found = with_client(
            settings(board, data, url), lambda client: client.show_graph(version=version)
        )
        _print(found, mermaid=mermaid, svg=svg, json=json)


@graph.command("around")
def around(
    tool: Tool,
    *,
    depth: Annotated[int, typer.Option(min=1, help="How many edges away.")] = 1,
    direction: Annotated[
        Direction, typer.Option(help="Prerequisites, dependants, or both.")
    ] = "both",
    mermaid: Mermaid = False,
    svg: SvgOption = None,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Show the prerequisites and dependants of a tool."""
    with exit_on_error():
        found = with_client(
            settings(board, data, url),
            lambda client: client.show_graph(around=tool, depth=depth, direction=direction),
        )
        _print(found, mermaid=mermaid, svg=svg, json=json)


@graph.command("breaks")
def breaks(
    tool: Tool,
    *,
    alternatives: Annotated[
        bool, typer.Option("--alternatives", help="Leave out tools that have a substitute.")
    ] = False,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Show which tools no longer work when a tool fails."""
    with exit_on_error():
        found = with_client(
            settings(board, data, url),
            lambda client: client.show_breaks(tool, alternatives=alternatives),
        )
        if json:
            say_json(found)
            return
        broken = found["breaks"]
        table(("tool", "because it needs"), ((item["tool"], item["because"]) for item in broken))
        for item in found["stand_ins"]:
            note(f"{item['by']} would substitute {item['tool']}")
        note(count_noun(len(broken), "tool"))


@graph.command("replacements")
def replacements(
    tool: Tool,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Propose substitutes for a tool, the best first, with reasons."""
    with exit_on_error():
        found = with_client(
            settings(board, data, url), lambda client: client.show_replacements(tool)
        )
        if json:
            say_json(found)
            return
        rows = (
            (it["name"], f"{it['score']:g}", "; ".join(it["reasons"])) for it in found["proposals"]
        )
        table(("tool", "score", "why"), rows)
        note(count_noun(len(found["proposals"]), "proposal"))


@graph.command("update")
def update(
    *,
    add_node: Names = None,
    remove_node: Names = None,
    add_edge: Pairs = None,
    remove_edge: Pairs = None,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Change the graph atomically."""
    from pegboard.registry.dependencies import GraphChange

    with exit_on_error():
        wanted = GraphChange(
            add_nodes=tuple(add_node or ()),
            remove_nodes=tuple(remove_node or ()),
            add_edges=tuple(map(_pair, add_edge or ())),
            remove_edges=tuple(map(_pair, remove_edge or ())),
        )
        changed = with_client(
            settings(board, data, url, keep="write"), lambda client: client.update_graph(wanted)
        )
        _print(changed, mermaid=False, json=json)


def _pair(text: str) -> tuple[str, str]:
    first, separator, second = text.partition(",")
    if not (separator and first.strip() and second.strip()):
        raise InvalidRequest(f"'{text}' is not an edge; write 'PREREQUISITE,DEPENDANT'")
    return first.strip(), second.strip()


def _print(found: dict[str, Any], *, mermaid: bool, json: bool, svg: Path | None = None) -> None:
    if svg is not None:
        write_file(svg, as_svg(found))
    if json:
        say_json(found)
        return
    say(as_mermaid(found) if mermaid else as_tree(found))
    nodes, edges = count_noun(len(found["nodes"]), "tool"), count_noun(len(found["edges"]), "edge")
    note(f"version {found['version']}: {nodes}, {edges}")
