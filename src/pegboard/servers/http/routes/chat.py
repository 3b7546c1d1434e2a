"""`/chat` and `/conversations`: ask, follow, stop, change and delete."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Header, Path, Query, Request, Response
from fastapi.responses import PlainTextResponse, StreamingResponse
from starlette.exceptions import HTTPException

from pegboard.core.ports.conversation_store import ConversationQuery, Exchange
from pegboard.errors import InvalidRequest
from pegboard.features.conversations import ChatEvent, MessageFile, MessageUpload, NewMessage
from pegboard.features.conversations.schemas import (
    ChatBody,
    ChatFile,
    ChatUpload,
    ConversationAnswer,
    ConversationChange,
    ConversationFilter,
    ConversationListAnswer,
    ConversationSummary,
    ExchangeAnswer,
    StopAnswer,
)
from pegboard.features.conversations.stream import read_position
from pegboard.features.conversations.views import (
    render_markdown,
    view_conversation,
    view_exchange,
)
from pegboard.features.runs.question_schemas import QuestionReply, QuestionState
from pegboard.servers.http.dependencies import Board, Caller, Ending
from pegboard.servers.http.event_stream import EVENT_SCHEMA, EVENT_STREAM, SentEvent, stream_events
from pegboard.servers.http.execute_call import cancel_on_disconnect
from pegboard.servers.http.json_body import CLIENT_CLOSED, JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.routes.execute import Key

router = APIRouter(route_class=JsonRoute, tags=["chat"])

Id = Annotated[str, Path(min_length=1, max_length=200)]
_POSITION = r"^([0-9]{1,15}-[0-9]{1,15})?$"
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events: `run_started`, `step`, `thinking`, `text_delta`, "
        "`phase`, `plan`, `step_text`, `judgement`, `compacted`, `tool_started`, "
        "`tool_progress`, `tool_finished`, `approval_required`, `credential_required`, "
        "`question_required`, `question_settled`, "
        "`message_queued`, `message_received`, `message_withdrawn`, `usage`, `error`, `done`. "
        "Clients ignore what they do not know. A `step` of a `turn` whose text has begun already "
        "replaces that text.",
        "content": {EVENT_STREAM: {"schema": EVENT_SCHEMA}},
    }
}


@router.post(
    "/chat",
    response_model=ExchangeAnswer,
    responses=refusals(400, 404, 409, 413, 415) | _STREAM,
)
async def chat(
    request: Request,
    board: Board,
    caller: Caller,
    ending: Ending,
    wanted: Annotated[ChatBody, Body()],
    key: Key = "",
) -> Response:
    """Send a message and follow the answer; it goes on if you stop following."""
    service = board.conversations
    exchange = await service.send(
        NewMessage(
            text=wanted.message,
            conversation=wanted.conversation,
            agent=wanted.agent,
            model=wanted.model,
            engine=wanted.engine,
            accounts=wanted.accounts,
            instead_of=wanted.instead_of,
            when=wanted.when,
            files=[_to_file(file) for file in wanted.files],
            key=key,
        ),
        principal=caller,
    )
    events = service.follow(exchange.conversation, until=exchange.id, principal=caller)
    if wanted.stream:
        headers = {"X-Conversation-Id": exchange.conversation, "Cache-Control": "no-store"}
        return StreamingResponse(
            stream_events(_to_sent(events), ending=ending),
            media_type=EVENT_STREAM,
            headers=headers,
        )

    async def finish() -> Exchange:
        async for _ in events:
            pass
        _, exchanges = await service.get(exchange.conversation, principal=caller)
        return next(item for item in exchanges if item.id == exchange.id)

    ended = await cancel_on_disconnect(request.receive, finish())  # the answer itself goes on
    if ended is None:
        return Response(status_code=CLIENT_CLOSED)
    return JsonResponse(view_exchange(ended))


def _to_file(file: ChatFile | ChatUpload) -> MessageFile | MessageUpload:
    if isinstance(file, ChatFile):
        return MessageFile(name=file.name, data=file.data)
    return MessageUpload(id=file.upload, name=file.name or "")


@router.get("/conversations", response_model=ConversationListAnswer, responses=refusals(404))
async def list_conversations(
    board: Board, caller: Caller, wanted: Annotated[ConversationFilter, Query()]
) -> Response:
    """List your conversations, the last changed first."""
    query = ConversationQuery(text=wanted.text, limit=wanted.limit, cursor=wanted.cursor)
    try:
        page = await board.conversations.list(query, principal=caller)
    except InvalidRequest as error:  # the rest of the query is valid
        raise HTTPException(404, "No page has this cursor.") from error
    found = [view_conversation(item) for item in page.conversations]
    return JsonResponse({"conversations": found, "next_cursor": page.next_cursor or None})


@router.get("/conversations/{id}", response_model=ConversationAnswer, responses=refusals(404))
async def show_conversation(board: Board, caller: Caller, id: Id) -> Response:  # noqa: A002 - the name in the path
    """Show a conversation with its messages and answers."""
    return JsonResponse(view_conversation(*await board.conversations.get(id, principal=caller)))


@router.patch(
    "/conversations/{id}",
    response_model=ConversationSummary,
    responses=refusals(400, 404, 409, 413, 415),
)
async def change_conversation(
    board: Board,
    caller: Caller,
    id: Id,  # noqa: A002 - as above
    wanted: Annotated[ConversationChange, Body()],
) -> Response:
    """Rename a conversation, or choose the agent or the model that answers from now on."""
    changes = wanted.model_dump(exclude_none=True)
    changed = await board.conversations.change(id, changes, principal=caller)
    return JsonResponse(view_conversation(changed))


@router.delete("/conversations/{id}", status_code=204, responses=refusals(404))
async def delete_conversation(board: Board, caller: Caller, id: Id) -> Response:  # noqa: A002 - as above
    """Stop and delete a conversation."""
    await board.conversations.delete(id, principal=caller)
    return Response(status_code=204)


@router.get(
    "/conversations/{id}/events", response_class=Response, responses=refusals(400, 404) | _STREAM
)
async def follow_conversation(
    board: Board,
    caller: Caller,
    ending: Ending,
    id: Id,  # noqa: A002 - as above
    last_event_id: Annotated[
        str,
        Header(
            alias="Last-Event-ID",
            pattern=_POSITION,
            description="Go on after this event, as a browser sends it when it reconnects; "
            "without it, from the answer in progress on.",
        ),
    ] = "",
    after: Annotated[str, Query(max_length=40, description="The same, for a first request.")] = "",
) -> Response:
    """Follow a conversation: the answer in progress, and all that come."""
    await board.conversations.get(id, principal=caller)
    position = read_position(last_event_id or after)
    events = board.conversations.follow(id, after=position, principal=caller)
    return StreamingResponse(
        stream_events(_to_sent(events), ending=ending),
        media_type=EVENT_STREAM,
        headers={"Cache-Control": "no-store"},
    )


@router.post("/conversations/{id}/stop", response_model=StopAnswer, responses=refusals(404))
async def stop_conversation(board: Board, caller: Caller, id: Id) -> Response:  # noqa: A002 - as above
    """Stop the answer in progress, and withdraw the messages that wait."""
    return JsonResponse({"stopped": await board.conversations.stop(id, principal=caller)})


@router.delete(
    "/conversations/{id}/queue/{message}",
    response_model=ExchangeAnswer,
    responses=refusals(400, 404, 409),
)
async def withdraw_message(
    board: Board,
    caller: Caller,
    id: Id,  # noqa: A002 - as above
    message: Id,
) -> Response:
    """Withdraw a message that waits; 409 `message_not_queued` once an agent has read it."""
    withdrawn = await board.conversations.withdraw(id, message, principal=caller)
    return JsonResponse(view_exchange(withdrawn))


@router.post(
    "/conversations/{id}/questions/{question}",
    response_model=QuestionState,
    responses=refusals(400, 404, 409, 413, 415),
)
async def answer_conversation_question(
    board: Board,
    caller: Caller,
    id: Id,  # noqa: A002 - as above
    question: Id,
    given: Annotated[QuestionReply, Body()],
) -> Response:
    """Answer, or decline, what a tool asks while a message is answered."""
    state = await board.conversations.questions.answer(
        id, question, given.action, given.content, principal=caller
    )
    return JsonResponse({"id": question, "state": state})


@router.delete("/conversations/{id}/grants/{grant}", status_code=204, responses=refusals(404))
async def revoke_grant(
    board: Board,
    caller: Caller,
    id: Id,  # noqa: A002 - as above
    grant: Id,
) -> Response:
    """Revoke an approval that stands for the rest of a conversation: later calls ask again."""
    await board.approvals.grants.revoke(id, grant, principal=caller)
    board.conversations.notify(id)
    return Response(status_code=204)


@router.get(
    "/conversations/{id}/export", response_model=ConversationAnswer, responses=refusals(404)
)
async def export_conversation(
    board: Board,
    caller: Caller,
    id: Id,  # noqa: A002 - as above
    format: Annotated[Literal["json", "markdown"], Query(description="The format.")] = "json",  # noqa: A002 - as in other exports
) -> Response:
    """Export a conversation: all of it as JSON, or the shown branch as Markdown."""
    conversation, exchanges = await board.conversations.get(id, principal=caller)
    name = f'attachment; filename="{conversation.id}.{"md" if format == "markdown" else "json"}"'
    if format == "markdown":
        return PlainTextResponse(
            render_markdown(conversation, exchanges),
            media_type="text/markdown",
            headers={"Content-Disposition": name},
        )
    data = view_conversation(conversation, exchanges)
    return JsonResponse(data, headers={"Content-Disposition": name})


async def _to_sent(events: AsyncIterator[ChatEvent]) -> AsyncGenerator[SentEvent]:
    async for event in events:
        yield event.id, event.event, event.data
