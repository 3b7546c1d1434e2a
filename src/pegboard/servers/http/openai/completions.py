"""Chat completions: an answer as one object, and as chunks."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

from msgspec import json

from pegboard.core.graph import NodeState
from pegboard.core.model_messages import AssistantMessage, Message, ModelUsage
from pegboard.features.completions import CompletionEnd, CompletionEvent, CompletionText
from pegboard.servers.http.openai.annotations import make_url_annotations
from pegboard.servers.http.openai.errors import error_body, status_of

_BETWEEN = "\n\n"
"""Between the texts of two turns of an answer."""
CANCELLED = {"code": "cancelled", "message": "The answer was cancelled."}


def make_completion(
    end: CompletionEnd,
    *,
    id: str,  # noqa: A002 - its name in the format
    model: str,
    created: int,
    is_json: bool = False,
) -> dict[str, Any]:
    """An answer as one object.

    Args:
        end: The answer.
        id: Of the completion.
        model: The name that was asked for.
        created: Unix seconds.
        is_json: Whether the answer is JSON, so that nothing else is shown.
    """
    content = end.text if is_json else join_texts(end.messages)
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
    if annotations := make_url_annotations(content, end.citations):
        message["annotations"] = annotations
    choice = {"index": 0, "message": message, "finish_reason": end.finish, "logprobs": None}
    return {
        "id": id,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [choice],
        "usage": make_usage(end.usage),
    }


async def stream_completion(
    events: AsyncIterator[CompletionEvent],
    *,
    id: str,  # noqa: A002 - as above
    model: str,
    created: int,
    with_usage: bool,
    is_json: bool = False,
) -> AsyncGenerator[bytes]:
    """An answer as server-sent chunks; JSON comes in one, when it is checked.

    Args:
        events: What happens.
        id: Of the completion.
        model: The name that was asked for.
        created: Unix seconds.
        with_usage: Whether a last chunk has the usage.
        is_json: As for `make_completion`.
    """
    head = {"id": id, "object": "chat.completion.chunk", "created": created, "model": model}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return encode_data({**head, "choices": [choice]} | ({"usage": None} if with_usage else {}))

    yield chunk({"role": "assistant", "content": ""})
    turn = 0
    async for event in events:
        if isinstance(event, CompletionText) and not is_json:
            between = _BETWEEN if turn and event.turn != turn else ""
            turn = event.turn
            yield chunk({"content": f"{between}{event.text}"})
        elif isinstance(event, CompletionEnd):
            if (error := find_error(event)) is not None:
                body = error_body(error["message"], error["code"], status_of(error))
                yield encode_data(body)
                return
            if is_json:
                yield chunk({"content": event.text})
            annotations = make_url_annotations(join_texts(event.messages), event.citations)
            yield chunk({"annotations": annotations} if annotations else {}, event.finish)
            if with_usage:
                yield encode_data({**head, "choices": [], "usage": make_usage(event.usage)})
    yield b"data: [DONE]\n\n"


def find_error(end: CompletionEnd) -> dict[str, Any] | None:
    """Why an answer was not completed; None when it was."""
    if end.state is NodeState.COMPLETED:
        return None
    return dict(end.error) if end.error is not None else dict(CANCELLED)


def join_texts(messages: Sequence[Message]) -> str:
    """All that the model has said in an answer, as a stream shows it."""
    texts = [item.text for item in messages if isinstance(item, AssistantMessage) and item.text]
    return _BETWEEN.join(texts)


def make_usage(usage: ModelUsage) -> dict[str, Any]:
    """The usage of an answer, over all turns of its model."""
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def encode_data(data: Any) -> bytes:
    """A server-sent event without a name."""
    return b"data: %s\n\n" % json.encode(data)
