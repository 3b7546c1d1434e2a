"""`/knowledge`: bases, and questions to them."""

from collections.abc import AsyncGenerator
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request, Response
from fastapi.responses import StreamingResponse

from pegboard.core.principal import Principal
from pegboard.features.knowledge import NewBase
from pegboard.features.knowledge.ask_schemas import AskAnswer, AskBase, AskList
from pegboard.features.knowledge.base_views import DocumentView
from pegboard.features.knowledge.bases import KnowledgeBase
from pegboard.features.knowledge.evidence_views import view_answer, view_ask
from pegboard.features.knowledge.schemas import (
    AddBase,
    BaseAnswer,
    BaseList,
    ChangeBase,
    DeletionAnswer,
    RefreshAnswer,
)
from pegboard.features.resources import ResourceChange
from pegboard.runtime import Pegboard
from pegboard.servers.http.dependencies import Board, Caller, Ending
from pegboard.servers.http.event_stream import EVENT_SCHEMA, EVENT_STREAM, SentEvent, stream_events
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals

router = APIRouter(route_class=JsonRoute, tags=["knowledge"])

BaseId = Annotated[str, Path(min_length=1, max_length=64, description="Id or name of a base.")]


@router.get("/knowledge", response_model=BaseList, responses=refusals())
async def list_bases(board: Board, caller: Caller) -> Response:
    """List the knowledge bases that you see, by name."""
    bases = board.knowledge.bases.list_visible(caller)
    return JsonResponse({"bases": await board.knowledge.view_bases(bases, principal=caller)})


@router.post(
    "/knowledge", status_code=201, response_model=BaseAnswer, responses=refusals(400, 413, 415)
)
async def add_base(board: Board, caller: Caller, wanted: Annotated[AddBase, Body()]) -> Response:
    """Add a knowledge base of your own."""
    new = NewBase(
        name=wanted.name,
        title=wanted.title,
        description=wanted.description,
        organisation=wanted.organisation,
        visibility=wanted.visibility,
        settings=wanted.settings.model_dump(),
    )
    base = await board.knowledge.add_base(new, principal=caller)
    return JsonResponse(await _view(board, base, caller), 201)


@router.get("/knowledge/{base}", response_model=BaseAnswer, responses=refusals(404))
async def show_base(board: Board, caller: Caller, base: BaseId) -> Response:
    """Show a knowledge base that you see."""
    found = board.knowledge.bases.find(base, principal=caller)
    return JsonResponse(await _view(board, found, caller))


@router.patch(
    "/knowledge/{base}", response_model=BaseAnswer, responses=refusals(400, 404, 413, 415)
)
async def change_base(
    board: Board, caller: Caller, base: BaseId, wanted: Annotated[ChangeBase, Body()]
) -> Response:
    """Change or share one of your own; documents keep how they were cut until taken in anew."""
    found = board.knowledge.bases.find(base, principal=caller)
    change = ResourceChange(
        title=wanted.title,
        description=wanted.description,
        organisation=wanted.organisation,
        visibility=wanted.visibility,
        config=None if wanted.settings is None else wanted.settings.model_dump(),
    )
    changed = await board.knowledge.change_base(found, change, principal=caller)
    return JsonResponse(await _view(board, changed, caller))


@router.delete("/knowledge/{base}", status_code=204, responses=refusals(400, 404))
async def delete_base(board: Board, caller: Caller, base: BaseId) -> Response:
    """Delete one of your own with all its documents, for all who see it."""
    found = board.knowledge.bases.find(base, principal=caller)
    await board.knowledge.delete_base(found, principal=caller)
    return Response(status_code=204)


@router.get("/knowledge/{base}/deletion", response_model=DeletionAnswer, responses=refusals(404))
async def count_base_deletion(board: Board, caller: Caller, base: BaseId) -> Response:
    """Show what goes when a knowledge base is deleted."""
    found = board.knowledge.bases.find(base, principal=caller)
    return JsonResponse(await board.knowledge.count_deletion(found, principal=caller))


@router.post(
    "/knowledge/{base}/refresh",
    status_code=202,
    response_model=RefreshAnswer,
    responses=refusals(404),
)
async def refresh_base(board: Board, caller: Caller, base: BaseId) -> Response:
    """Take in what has changed in the folders and addresses that documents come from."""
    found = board.knowledge.bases.find(base, principal=caller)
    runs = await board.knowledge.refresh(found, principal=caller)
    return JsonResponse({"run": runs[0] if runs else ""}, 202)


@router.get(
    "/knowledge/{base}/events",
    response_class=StreamingResponse,
    responses=refusals(404)
    | {
        200: {
            "description": "Server-sent events: `document` with a document that was added or "
            "changed, `document_deleted` with the `id` of one that is gone.",
            "content": {EVENT_STREAM: {"schema": EVENT_SCHEMA}},
        }
    },
)
async def follow_base(
    request: Request, board: Board, caller: Caller, ending: Ending, base: BaseId
) -> Response:
    """Follow the documents of a knowledge base."""
    found = board.knowledge.bases.find(base, principal=caller)

    def find_caller() -> Principal:
        return request.state.principal  # with the rights of now, as long as the stream lasts

    async def send() -> AsyncGenerator[SentEvent]:
        async for kind, item in board.knowledge.follow(found, caller=find_caller):
            if isinstance(item, DocumentView):
                owner = item.row.owner.rpartition("/")[2]
                handles = await board.knowledge.find_handles([owner])
                yield "", kind, item.to_dict(owner=handles.get(owner, owner))
            else:
                yield "", kind, {"id": item}

    return StreamingResponse(
        stream_events(send(), ending=ending),
        media_type=EVENT_STREAM,
        headers={"Cache-Control": "no-store"},
    )


@router.post(
    "/knowledge/{base}/ask",
    response_model=AskAnswer,
    responses=refusals(400, 404, 409, 413, 415, 429, 502, 504),
)
async def ask_base(
    board: Board, caller: Caller, base: BaseId, wanted: Annotated[AskBase, Body()]
) -> Response:
    """Ask a knowledge base: a call of its tool, recorded like any other."""
    found = board.knowledge.bases.find(base, principal=caller)
    stored = await board.knowledge.ask(
        found, wanted.question, mode=wanted.mode, limit=wanted.limit, principal=caller
    )
    return JsonResponse(view_answer(stored))


@router.get("/knowledge/{base}/asks", response_model=AskList, responses=refusals(404))
async def list_asks(board: Board, caller: Caller, base: BaseId) -> Response:
    """List your last questions to a knowledge base, the last first."""
    found = board.knowledge.bases.find(base, principal=caller)
    asked = await board.knowledge.list_asked(found, principal=caller)
    return JsonResponse({"asks": [view_ask(item) for item in asked]})


@router.get("/knowledge/{base}/asks/{call}", response_model=AskAnswer, responses=refusals(404))
async def show_ask(
    board: Board,
    caller: Caller,
    base: BaseId,
    call: Annotated[str, Path(min_length=1, max_length=100)],
) -> Response:
    """Show what was found for one of your questions."""
    found = board.knowledge.bases.find(base, principal=caller)
    return JsonResponse(view_answer(await board.knowledge.get_asked(found, call, principal=caller)))


async def _view(board: Pegboard, base: KnowledgeBase, caller: Any) -> dict[str, Any]:
    return (await board.knowledge.view_bases([base], principal=caller))[0]
