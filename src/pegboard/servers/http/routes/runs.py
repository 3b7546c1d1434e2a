"""`/runs`: start, list, show, follow, control and answer runs."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Body, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from pegboard.core.ports.run_store import RunEvent, RunQuery
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest
from pegboard.features.runs import RunView
from pegboard.features.runs.question_schemas import QuestionReply, QuestionState
from pegboard.features.runs.schemas import (
    AnswerBody,
    MessageBody,
    RunAnswer,
    RunBody,
    RunFilter,
    RunListAnswer,
)
from pegboard.graphs.documents.read import is_plan, read_in_thread
from pegboard.rendering.svg import chart, timeline
from pegboard.rendering.text import mermaid
from pegboard.runtime import Pegboard
from pegboard.servers.http.dependencies import Board, Caller, Ending
from pegboard.servers.http.event_stream import EVENT_SCHEMA, EVENT_STREAM, SentEvent, stream_events
from pegboard.servers.http.execute_call import to_accepted_answer
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.picture_responses import (
    DRAWINGS,
    RunViewFilter,
    choose_format,
    mermaid_response,
    svg_response,
)
from pegboard.servers.http.routes.execute import Key

router = APIRouter(route_class=JsonRoute, tags=["runs"])

RunId = Annotated[str, Path(min_length=1, max_length=200)]


@router.post(
    "/runs",
    status_code=202,
    response_model=RunAnswer,
    responses=refusals(400, 404, 409, 413, 415),
)
async def start_run(
    board: Board, caller: Caller, wanted: Annotated[RunBody, Body()], key: Key = ""
) -> Response:
    """Start a run of a stored plan, or of a graph in the request."""
    if wanted.plan_id:
        view = await board.runs.start_plan(wanted.plan_id, wanted.params, principal=caller, key=key)
    else:
        graph = await read_in_thread(wanted.graph)
        view = await board.runs.start_graph(
            graph, wanted.params, principal=caller, key=key, as_plan=is_plan(wanted.graph)
        )
    return to_accepted_answer(view).response()


@router.get("/runs", response_model=RunListAnswer, responses=refusals(404))
async def list_runs(
    board: Board, caller: Caller, wanted: Annotated[RunFilter, Query()]
) -> Response:
    """List the runs that you may see, or those of others that ask you, newest first."""
    query = RunQuery(**wanted.model_dump(exclude={"assigned"}))
    find = board.runs.list_for_assignee if wanted.assigned else board.runs.list
    try:
        page = await find(query, principal=caller)
    except InvalidRequest as error:  # the rest of the query is valid
        raise HTTPException(404, "No page has this cursor.") from error
    runs = [view.to_dict() for view in page.runs]
    return JsonResponse({"runs": runs, "next_cursor": page.next_cursor or None})


@router.get("/runs/{run_id}", response_model=RunAnswer, responses=refusals(400, 404) | DRAWINGS)
async def show_run(
    request: Request,
    board: Board,
    caller: Caller,
    run_id: RunId,
    wanted: Annotated[RunViewFilter, Query()],
) -> Response:
    """Show or draw a run, at once or as soon as it has ended or is suspended.

    Of another caller's run, you see the questions that it asks you.
    """
    if (asked := await board.runs.find_questions(run_id, principal=caller)) is not None:
        return JsonResponse(asked.to_dict())
    view = await _wait_until_suspended(board, caller, run_id, wanted.wait)
    match choose_format(request, wanted.format):
        case "svg":
            return svg_response(chart(view.graph, view.result))
        case "timeline":
            return svg_response(timeline(view.result))
        case "mermaid":
            return mermaid_response(mermaid(view.graph, view.result))
        case _:
            last = await board.runs.last_event(run_id, principal=caller)
            return JsonResponse(view.to_dict(), headers={"Last-Event-ID": str(last)})


async def _wait_until_suspended(
    board: Pegboard, caller: Principal, run_id: str, seconds: float
) -> RunView:
    if seconds:
        with suppress(TimeoutError):  # show its current state
            async with asyncio.timeout(seconds):
                return await board.runs.wait(run_id, principal=caller)
    return await board.runs.get(run_id, principal=caller)


@router.get(
    "/runs/{run_id}/events",
    response_class=Response,
    responses=refusals(404)
    | {
        200: {
            "description": "Server-sent events: `run_started`, `node_changed`, `run_finished`.",
            "content": {EVENT_STREAM: {"schema": EVENT_SCHEMA}},
        }
    },
)
async def follow_run(
    board: Board,
    caller: Caller,
    ending: Ending,
    run_id: RunId,
    after: Annotated[
        int, Query(ge=0, le=2**53, description="Only events with a greater number.")
    ] = 0,
    last_event_id: Annotated[
        str,
        Header(
            alias="Last-Event-ID",
            pattern="^[0-9]{0,15}$",
            description="The same, as a browser sends it when it reconnects.",
        ),
    ] = "",
) -> Response:
    """Follow the events of a run until it has ended, from the beginning or after an event."""
    await board.runs.get(run_id, principal=caller)
    first = max(after, int(last_event_id or 0))
    events = board.runs.events(run_id, after=first, principal=caller)
    return StreamingResponse(
        stream_events(_to_sent(events), ending=ending), media_type=EVENT_STREAM
    )


@router.post("/runs/{run_id}/cancel", response_model=RunAnswer, responses=refusals(404))
async def cancel_run(board: Board, caller: Caller, run_id: RunId) -> Response:
    """Cancel a run: nothing new is started, and running steps are cancelled."""
    return JsonResponse((await board.runs.cancel(run_id, principal=caller)).to_dict())


@router.post("/runs/{run_id}/pause", response_model=RunAnswer, responses=refusals(404))
async def pause_run(board: Board, caller: Caller, run_id: RunId) -> Response:
    """Pause a run: nothing new is started, and running steps finish."""
    return JsonResponse((await board.runs.pause(run_id, principal=caller)).to_dict())


@router.post("/runs/{run_id}/resume", response_model=RunAnswer, responses=refusals(404))
async def resume_run(board: Board, caller: Caller, run_id: RunId) -> Response:
    """Resume a paused run."""
    return JsonResponse((await board.runs.resume(run_id, principal=caller)).to_dict())


@router.post(
    "/runs/{run_id}/answers",
    response_model=RunAnswer,
    responses=refusals(400, 404, 409, 410, 413, 415),
)
async def answer_run(
    board: Board, caller: Caller, run_id: RunId, given: Annotated[AnswerBody, Body()]
) -> Response:
    """Answer a run: a question, an approval, or the outcome of an interrupted call."""
    view = await board.runs.answer(run_id, given.pending_id, given.answer, principal=caller)
    return JsonResponse(view.to_dict())


@router.post(
    "/runs/{run_id}/questions/{question}",
    response_model=QuestionState,
    responses=refusals(400, 404, 409, 413, 415),
)
async def answer_question(
    board: Board,
    caller: Caller,
    run_id: RunId,
    question: Annotated[str, Path(min_length=1, max_length=200)],
    given: Annotated[QuestionReply, Body()],
) -> Response:
    """Answer, or decline, what a tool asks while a run calls it."""
    state = await board.runs.questions.answer(
        run_id, question, given.action, given.content, principal=caller
    )
    return JsonResponse({"id": question, "state": state})


@router.post(
    "/runs/{run_id}/messages", response_model=RunAnswer, responses=refusals(400, 404, 413, 415)
)
async def send_message(
    board: Board, caller: Caller, run_id: RunId, given: Annotated[MessageBody, Body()]
) -> Response:
    """Send a run a message that one of its steps waits for, now or later."""
    view = await board.runs.send(
        run_id, given.event, given.message, message_id=given.id, principal=caller
    )
    return JsonResponse(view.to_dict())


async def _to_sent(events: AsyncIterator[RunEvent]) -> AsyncGenerator[SentEvent]:
    async for event in events:
        yield str(event.sequence), event.kind, {"kind": event.kind, "at": event.at, **event.data}
