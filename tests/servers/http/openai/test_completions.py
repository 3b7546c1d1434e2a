"""Chat completions, as objects and as chunks."""

import json
from collections.abc import AsyncGenerator
from typing import Any

from openai.types.chat import ChatCompletion, ChatCompletionChunk

from pegboard.core.graph import NodeState
from pegboard.core.model_messages import AssistantMessage, ModelUsage, ToolCall, ToolMessage
from pegboard.features.completions import CompletionEnd, CompletionEvent, CompletionText
from pegboard.servers.http.openai.completions import (
    find_error,
    make_completion,
    stream_completion,
)

END = CompletionEnd(
    state=NodeState.COMPLETED,
    text="It is 3.",
    messages=[
        AssistantMessage(text="Wait.", calls=(ToolCall(id="1", name="add"),)),
        ToolMessage(call_id="1", name="add", text="3"),
        AssistantMessage(text="It is 3."),
    ],
    usage=ModelUsage(requests=2, input_tokens=20, output_tokens=5, cached_tokens=12),
)
HEAD: dict[str, Any] = {"id": "chatcmpl-1", "model": "auto", "created": 7}


async def stream(*events: CompletionEvent, with_usage: bool = False) -> list[str]:
    async def happen() -> AsyncGenerator[CompletionEvent]:
        for event in events:
            yield event

    chunks = stream_completion(happen(), **HEAD, with_usage=with_usage)
    return [chunk.decode().removeprefix("data: ").strip() async for chunk in chunks]


def test_an_answer_is_a_completion_with_all_that_was_said_and_its_usage() -> None:
    made = ChatCompletion.model_validate(make_completion(END, **HEAD), strict=True)

    assert made.choices[0].message.content == "Wait.\n\nIt is 3."
    assert made.choices[0].finish_reason == "stop"
    assert made.usage is not None
    assert (made.usage.prompt_tokens, made.usage.total_tokens) == (20, 25)
    assert made.usage.prompt_tokens_details is not None
    assert made.usage.prompt_tokens_details.cached_tokens == 12


async def test_a_stream_says_the_same_in_pieces() -> None:
    events = [
        CompletionText(text="Wait.", turn=1),
        CompletionText(text="It is ", turn=2),
        CompletionText(text="3.", turn=2),
        END,
    ]
    *lines, last = await stream(*events, with_usage=True)
    chunks = [ChatCompletionChunk.model_validate_json(line) for line in lines]

    assert last == "[DONE]"
    texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(texts) == "Wait.\n\nIt is 3."
    assert [chunk.choices[0].finish_reason for chunk in chunks[-2:-1]] == ["stop"]
    assert (chunks[-1].choices, chunks[-1].usage is not None) == ([], True)


async def test_a_failure_ends_a_stream_with_its_error() -> None:
    error = {"code": "unavailable", "message": "busy"}
    lines = await stream(CompletionEnd(state=NodeState.FAILED, error=error))

    assert json.loads(lines[-1])["error"]["message"] == "busy"


def test_a_cancelled_answer_is_an_error_too() -> None:
    assert find_error(END) is None
    assert (find_error(CompletionEnd(state=NodeState.CANCELLED)) or {})["code"] == "cancelled"
