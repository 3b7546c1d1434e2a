"""`/resources` and `/market`: what people add, share and publish."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Response

from pegboard.features.resources.schemas import (
    AddResource,
    ChangeResource,
    ConnectorReportAnswer,
    ResourceAnswer,
    ResourceFilter,
    ResourceList,
    ReviewResource,
    SourceKindList,
)
from pegboard.features.resources.views import report_to_dict
from pegboard.runtime.sources.kinds import list_connectable_kinds
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals

router = APIRouter(route_class=JsonRoute, tags=["resources"])

ResourceId = Annotated[str, Path(min_length=1, max_length=64, description="Id of a resource.")]


@router.get("/source-kinds", response_model=SourceKindList, responses=refusals())
async def list_source_kinds(_: Caller) -> Response:
    """List the kinds of sources that people connect, with the schemas of their configurations."""
    return JsonResponse({"kinds": [kind.to_dict() for kind in list_connectable_kinds()]})


@router.get("/resources", response_model=ResourceList, responses=refusals())
async def list_resources(
    board: Board, caller: Caller, wanted: Annotated[ResourceFilter, Query()]
) -> Response:
    """List connectors, agents, skills and models: those you see, or those you may review."""
    if wanted.waiting:
        found = await board.resources.list_waiting(principal=caller)
    else:
        found = await board.resources.list(kind=wanted.kind, principal=caller)
    return JsonResponse({"resources": [view.to_dict() for view in found]})


@router.post(
    "/resources",
    status_code=201,
    response_model=ResourceAnswer,
    responses=refusals(400, 409, 413, 415),
)
async def add_resource(
    board: Board, caller: Caller, wanted: Annotated[AddResource, Body()]
) -> Response:
    """Add a connector, agent, skill or model; a connector is opened, and its tools are listed."""
    view = await board.resources.add(wanted.to_new(), principal=caller)
    return JsonResponse(view.to_dict(), 201)


@router.get("/resources/{resource}", response_model=ResourceAnswer, responses=refusals(404))
async def show_resource(board: Board, caller: Caller, resource: ResourceId) -> Response:
    """Show a connector, an agent, a skill or a model that you see or may review."""
    return JsonResponse((await board.resources.get(resource, principal=caller)).to_dict())


@router.patch(
    "/resources/{resource}",
    response_model=ResourceAnswer,
    responses=refusals(400, 404, 409, 413, 415),
)
async def change_resource(
    board: Board, caller: Caller, resource: ResourceId, wanted: Annotated[ChangeResource, Body()]
) -> Response:
    """Change or share one of your own; an approved one is reviewed again if its content changes."""
    view = await board.resources.change(resource, wanted.to_change(), principal=caller)
    return JsonResponse(view.to_dict())


@router.delete("/resources/{resource}", status_code=204, responses=refusals(404))
async def delete_resource(board: Board, caller: Caller, resource: ResourceId) -> Response:
    """Delete one of your own, for all who see it."""
    await board.resources.delete(resource, principal=caller)
    return Response(status_code=204)


@router.post(
    "/resources/{resource}/test",
    response_model=ConnectorReportAnswer,
    responses=refusals(400, 404),
)
async def test_resource(board: Board, caller: Caller, resource: ResourceId) -> Response:
    """Open one of your connectors apart from the board, list its tools, and close it."""
    return JsonResponse(report_to_dict(await board.resources.test(resource, principal=caller)))


@router.post(
    "/resources/{resource}/publish", response_model=ResourceAnswer, responses=refusals(400, 404)
)
async def publish_resource(board: Board, caller: Caller, resource: ResourceId) -> Response:
    """Propose one of your own for the market; another administrator reviews it."""
    return JsonResponse((await board.resources.publish(resource, principal=caller)).to_dict())


@router.post(
    "/resources/{resource}/withdraw", response_model=ResourceAnswer, responses=refusals(404)
)
async def withdraw_resource(board: Board, caller: Caller, resource: ResourceId) -> Response:
    """Take one of your own out of the market, or back from its review."""
    return JsonResponse((await board.resources.withdraw(resource, principal=caller)).to_dict())


@router.post(
    "/resources/{resource}/review",
    response_model=ResourceAnswer,
    responses=refusals(400, 404, 413, 415),
)
async def review_resource(
    board: Board, caller: Caller, resource: ResourceId, wanted: Annotated[ReviewResource, Body()]
) -> Response:
    """Approve what is proposed for the market, or reject it, as another administrator."""
    view = await board.resources.review(
        resource,
        wanted.decision,
        note=wanted.note,
        revision=wanted.revision,
        principal=caller,
    )
    return JsonResponse(view.to_dict())


@router.get("/market", response_model=ResourceList, responses=refusals())
async def list_market(board: Board, caller: Caller) -> Response:
    """List what organisations have published after a review."""
    found = await board.resources.list_market(principal=caller)
    return JsonResponse({"resources": [view.to_dict() for view in found]})


@router.post("/resources/{resource}/subscription", status_code=204, responses=refusals(404))
async def subscribe(board: Board, caller: Caller, resource: ResourceId) -> Response:
    """Install something of the market for yourself."""
    await board.resources.subscribe(resource, principal=caller)
    return Response(status_code=204)


@router.delete("/resources/{resource}/subscription", status_code=204, responses=refusals(404))
async def unsubscribe(board: Board, caller: Caller, resource: ResourceId) -> Response:
    """Remove what you have installed from the market."""
    await board.resources.unsubscribe(resource, principal=caller)
    return Response(status_code=204)
