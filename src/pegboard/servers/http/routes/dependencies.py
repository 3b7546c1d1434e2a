"""`/graph`: the dependency graph of tools."""

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from pegboard.concurrency.cooperative import in_thread
from pegboard.core.graph import LARGE
from pegboard.features.dependencies import find_impact, graph_dict
from pegboard.features.dependencies.schemas import (
    BreaksAnswer,
    DependencyGraphAnswer,
    GraphDiffAnswer,
    GraphUpdateBody,
)
from pegboard.registry.dependencies import DependencyGraph, GraphChange
from pegboard.registry.dependencies.graph import Direction
from pegboard.rendering.svg import dependencies
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.picture_responses import PICTURE, choose_format, svg_response

router = APIRouter(route_class=JsonRoute, tags=["graph"])

_MAX_VERSION = 2**53
_Version = Annotated[int, Field(ge=0, le=_MAX_VERSION)]


class GraphFilter(BaseModel):
    """Query of `GET /graph`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Annotated[
        int | None, Field(ge=0, le=_MAX_VERSION, description="By default the newest.")
    ] = None
    around: Annotated[
        str,
        Field(max_length=128, description="Only the neighbourhood of this tool, by id or name."),
    ] = ""
    depth: Annotated[
        int, Field(ge=1, le=1000, description="Size of the neighbourhood in edges.")
    ] = 1
    direction: Annotated[
        Direction, Field(description="Follow dependencies, dependants, or both.")
    ] = "both"
    format: Annotated[
        Literal["", "json", "svg"],
        Field(description="By default JSON, or SVG if `Accept` names only that."),
    ] = ""


class BreaksFilter(BaseModel):
    """Query of `GET /graph/breaks`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: Annotated[
        str, Field(min_length=1, max_length=128, description="The tool that fails, by id or name.")
    ]
    version: Annotated[
        int | None, Field(ge=0, le=_MAX_VERSION, description="By default the newest.")
    ] = None
    alternatives: Annotated[
        bool,
        Field(description="Leave out tools for which a certain replacement exists."),
    ] = False


class GraphDiffFilter(BaseModel):
    """Query of `GET /graph/diff`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    from_: Annotated[_Version, Field(alias="from")]
    to: Annotated[
        int | None, Field(ge=0, le=_MAX_VERSION, description="By default the newest.")
    ] = None


@router.get("/graph", response_model=DependencyGraphAnswer, responses=refusals(400, 404) | PICTURE)
async def show_graph(
    request: Request, board: Board, caller: Caller, wanted: Annotated[GraphFilter, Query()]
) -> Response:
    """Show or draw the dependency graph, current or of a version, with the tools you may see."""
    service = board.dependencies
    graph = await service.show(wanted.version, principal=caller)
    if wanted.around:
        node = service.find_node(wanted.around, principal=caller)
        graph = graph.around(node, depth=wanted.depth, direction=wanted.direction)
    names = service.names(graph.nodes)  # asks the board, so not in the thread
    is_picture = choose_format(request, wanted.format) == "svg"

    def respond() -> Response:
        shown = graph_dict(graph, names)
        return svg_response(dependencies(shown)) if is_picture else JsonResponse(shown)

    return await in_thread(respond, is_large=len(graph) >= LARGE)


@router.post(
    "/graph/update",
    response_model=DependencyGraphAnswer,
    responses=refusals(400, 404, 409, 413, 415),
)
async def update_graph(
    board: Board, caller: Caller, wanted: Annotated[GraphUpdateBody, Body()]
) -> Response:
    """Change the graph atomically; returns the changed part of the new version."""
    change = GraphChange(
        add_nodes=tuple(wanted.add_nodes),
        remove_nodes=tuple(wanted.remove_nodes),
        add_edges=tuple((first, second) for first, second in wanted.add_edges),
        remove_edges=tuple((first, second) for first, second in wanted.remove_edges),
    )
    service = board.dependencies
    graph = await service.update(change, principal=caller)
    named = [*change.add_nodes, *(node for edge in change.add_edges for node in edge)]
    near = graph.only(map(service.node, named))
    return JsonResponse(_to_dict(board, service.filter_visible(caller, near)))


@router.get("/graph/breaks", response_model=BreaksAnswer, responses=refusals(404))
async def show_breaks(
    board: Board, caller: Caller, wanted: Annotated[BreaksFilter, Query()]
) -> Response:
    """List the tools that stop working if a tool fails, as far as you may see them."""
    service = board.dependencies
    seen = await service.show(wanted.version, principal=caller)
    certain = partial(board.tool_health.replacements.find_certain, principal=caller)
    found = find_impact(
        seen,
        service.find_node(wanted.tool, principal=caller),
        whole=service.at(seen.version),
        substitutes_of=certain if wanted.alternatives else None,
    )
    return JsonResponse(found.to_dict(service.names(item.tool for item in found.broken)))


@router.get("/graph/diff", response_model=GraphDiffAnswer, responses=refusals(404))
async def diff_graph(
    board: Board, caller: Caller, wanted: Annotated[GraphDiffFilter, Query()]
) -> Response:
    """Compare two versions of the graph."""
    service = board.dependencies
    to = service.find_newest(caller) if wanted.to is None else wanted.to
    for version in (wanted.from_, to):
        service.check_version(version, principal=caller)
    found = service.diff(wanted.from_, to)
    seen = service.visibility_for(caller)
    return JsonResponse(
        {
            "from": wanted.from_,
            "to": to,
            "added_nodes": [node for node in found.added_nodes if seen(node)],
            "removed_nodes": [node for node in found.removed_nodes if seen(node)],
            "added_edges": [list(edge) for edge in found.added_edges if all(map(seen, edge))],
            "removed_edges": [list(edge) for edge in found.removed_edges if all(map(seen, edge))],
            "changed_origins": [
                {
                    "prerequisite": edge[0],
                    "dependant": edge[1],
                    "before": list(before),
                    "after": list(after),
                }
                for edge, before, after in found.changed_origins
                if all(map(seen, edge))
            ],
        }
    )


def _to_dict(board: Board, graph: DependencyGraph) -> dict[str, Any]:
    return graph_dict(graph, board.dependencies.names(graph.nodes))
