"""`/chat/completions`, `/responses` and `/models`, for clients of OpenAI's API."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request, Response
from fastapi.responses import StreamingResponse

from pegboard.core.model_messages import Message
from pegboard.core.principal import Principal
from pegboard.errors import AgentNotFound
from pegboard.features.agents.service import AUTO
from pegboard.features.completions import CompletionEnd, CompletionEvent, CompletionRequest
from pegboard.runtime import Pegboard
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.event_stream import EVENT_STREAM, keep_alive
from pegboard.servers.http.execute_call import cancel_on_disconnect
from pegboard.servers.http.json_body import CLIENT_CLOSED, JsonResponse
from pegboard.servers.http.openai.completions import (
    find_error,
    make_completion,
    stream_completion,
)
from pegboard.servers.http.openai.errors import (
    OpenAIRoute,
    error_body,
    openai_refusals,
    status_of,
)
from pegboard.servers.http.openai.requests import (
    CompletionBody,
    RespondBody,
    read_input,
    read_messages,
)
from pegboard.servers.http.openai.responses import ResponseHead, make_response, stream_response
from pegboard.servers.http.routes.execute import Key

router = APIRouter(route_class=OpenAIRoute, tags=["openai"])

_RESPONSE = "resp_"
_COMPLETION = "chatcmpl-"
_NOT_FOUND = 404
_ECHOED = {"temperature", "top_p", "max_output_tokens", "text", "metadata"}
_OBJECT: dict[str, Any] = {"type": "object", "additionalProperties": True}


def _answers(description: str) -> dict[int | str, dict[str, Any]]:
    content = {"application/json": {"schema": _OBJECT}, EVENT_STREAM: {"schema": _OBJECT}}
    return {200: {"description": description, "content": content}}


@router.post(
    "/chat/completions",
    response_class=Response,
    responses=openai_refusals(404, 409, 413, 415, 429, 502, 504)
    | _answers("A chat completion, or its chunks, in OpenAI's format."),
)
async def complete_chat(
    request: Request,
    board: Board,
    caller: Caller,
    wanted: Annotated[CompletionBody, Body()],
    key: Key = "",
) -> Response:
    """Let an agent answer a conversation; its tools run in the server."""
    asked = CompletionRequest(
        settings=wanted.read_settings(),
        output_schema=wanted.read_schema(),
        messages=read_messages(wanted),
    )
    run_id = await _start(board, caller, wanted.model, asked, key)
    if isinstance(run_id, Response):
        return run_id
    head: dict[str, Any] = {
        "id": f"{_COMPLETION}{run_id}",
        "model": wanted.model,
        "created": int(board.registry.environment.now()),
        "is_json": asked.output_schema is not None,
    }
    with_usage = wanted.stream_options is not None and wanted.stream_options.include_usage
    return await _answer(
        request,
        board,
        caller,
        run_id,
        key=key,
        make=partial(make_completion, **head),
        stream=partial(stream_completion, **head, with_usage=with_usage) if wanted.stream else None,
    )


@router.post(
    "/responses",
    response_class=Response,
    responses=openai_refusals(404, 409, 413, 415, 429, 502, 504)
    | _answers("A response, or its events, in OpenAI's format."),
)
async def respond(
    request: Request,
    board: Board,
    caller: Caller,
    wanted: Annotated[RespondBody, Body()],
    key: Key = "",
) -> Response:
    """Let an agent answer; its tools run in the server and are shown as `mcp_call`."""
    settings, schema = wanted.read_settings(), wanted.read_schema()
    earlier: list[Message] = []
    if wanted.previous_response_id:
        previous = wanted.previous_response_id.removeprefix(_RESPONSE)
        earlier = await board.completions.read_messages(previous, principal=caller)
    messages = [*earlier, *read_input(wanted)]
    asked = CompletionRequest(messages=messages, settings=settings, output_schema=schema)
    run_id = await _start(board, caller, wanted.model, asked, key)
    if isinstance(run_id, Response):
        return run_id
    head = ResponseHead(
        id=f"{_RESPONSE}{run_id}",
        model=wanted.model,
        created=int(board.registry.environment.now()),
        previous=wanted.previous_response_id,
        is_json=schema is not None,
        echoed=wanted.model_dump(include=_ECHOED, exclude_none=True, by_alias=True),
    )
    return await _answer(
        request,
        board,
        caller,
        run_id,
        key=key,
        make=partial(make_response, head=head),
        stream=partial(stream_response, head=head) if wanted.stream else None,
    )


@router.get(
    "/models",
    response_class=Response,
    responses=openai_refusals() | _answers("The names that `model` takes, in OpenAI's format."),
)
async def list_models(board: Board, caller: Caller) -> Response:
    """List what clients of OpenAI's API choose as a model: `auto`, and the agents."""
    return JsonResponse({"object": "list", "data": _list_models(board, caller)})


@router.get(
    "/models/{model}",
    response_class=Response,
    responses=openai_refusals(404) | _answers("One name that `model` takes."),
)
async def show_model(
    board: Board, caller: Caller, model: Annotated[str, Path(min_length=1, max_length=200)]
) -> Response:
    """Show one of the names that clients choose as a model."""
    found = next((item for item in _list_models(board, caller) if item["id"] == model), None)
    return _no_model(f"There is no agent '{model}'.") if found is None else JsonResponse(found)


def _list_models(board: Pegboard, caller: Principal) -> list[dict[str, Any]]:
    agents = board.agents.list_names(principal=caller)
    return [
        {"id": name, "object": "model", "created": 0, "owned_by": "pegboard"}
        for name in (AUTO, *agents)
    ]


async def _start(
    board: Pegboard, caller: Principal, model: str, asked: CompletionRequest, key: str
) -> str | Response:
    """The id of the run that answers, or the answer that there is no such agent."""
    try:
        agent = board.agents.resolve_name(model, principal=caller)
    except AgentNotFound as error:
        return _no_model(error.message)
    return await board.completions.start(replace(asked, agent=agent), principal=caller, key=key)


async def _answer(
    request: Request,
    board: Pegboard,
    caller: Principal,
    run_id: str,
    *,
    key: str,
    make: Callable[[CompletionEnd], dict[str, Any]],
    stream: Callable[[AsyncIterator[CompletionEvent]], AsyncGenerator[bytes]] | None,
) -> Response:
    """The answer of a run in the format of its route: as one object, or as a stream."""
    if stream is not None:
        events = board.completions.follow(run_id, principal=caller)
        return _stream(board, caller, run_id, stream(events), key=key)
    end = await cancel_on_disconnect(request.receive, _finish(board, caller, run_id, key=key))
    if end is None:
        return Response(status_code=CLIENT_CLOSED)
    if (error := find_error(end)) is not None:
        return _refuse(error)
    return JsonResponse(make(end))


def _finish(
    board: Pegboard, caller: Principal, run_id: str, *, key: str
) -> Coroutine[Any, Any, CompletionEnd]:
    """Wait for the end; without a key nobody else does, and the request cancels it with itself."""

    async def wait() -> CompletionEnd:
        try:
            return await board.completions.finish(run_id, principal=caller)
        except asyncio.CancelledError:
            if not key:
                await board.completions.cancel(run_id, principal=caller)
            raise

    return wait()


def _stream(
    board: Pegboard, caller: Principal, run_id: str, chunks: AsyncGenerator[bytes], *, key: str
) -> Response:
    async def watch() -> AsyncGenerator[bytes]:
        has_ended = False
        try:
            async for chunk in chunks:
                yield chunk
            has_ended = True
        finally:
            if not has_ended and not key:  # the client is gone, and nobody else can read it
                await board.completions.cancel(run_id, principal=caller)

    return StreamingResponse(
        keep_alive(watch()), media_type=EVENT_STREAM, headers={"Cache-Control": "no-store"}
    )


def _refuse(error: dict[str, Any]) -> Response:
    status = status_of(error)
    return JsonResponse(error_body(error["message"], error["code"], status), status)


def _no_model(message: str) -> Response:
    body = error_body(message, "model_not_found", _NOT_FOUND, param="model")
    return JsonResponse(body, _NOT_FOUND)
