"""Responses, as objects with items and as events."""

import json
from collections.abc import AsyncGenerator
from typing import Any

from openai.types.responses import Response

from pegboard.core.graph import NodeState
from pegboard.core.model_messages import AssistantMessage, ModelUsage, ToolCall, ToolMessage
from pegboard.features.completions import (
    CompletionCall,
    CompletionEnd,
    CompletionEvent,
    CompletionText,
)
from pegboard.servers.http.openai.responses import make_response, stream_response

END = CompletionEnd(
    state=NodeState.COMPLETED,
    text="It is 3.",
    messages=[
        AssistantMessage(
            text="Wait.", calls=(ToolCall(id="1", name="add"), ToolCall(id="2", name="sub"))
        ),
        ToolMessage(call_id="1", name="add", text="3"),
        ToolMessage(call_id="2", name="sub", text="no", is_error=True),
        AssistantMessage(text="It is 3."),
    ],
    usage=ModelUsage(requests=2, input_tokens=20, output_tokens=5),
)
HEAD: dict[str, Any] = {"id": "resp_1", "model": "auto", "created": 7, "previous": None}
EVENTS: list[CompletionEvent] = [
    CompletionText(text="Wait.", turn=1),
    CompletionCall(id="1", tool="add", arguments={}),
    CompletionCall(id="2", tool="sub", arguments="{}"),
    CompletionCall(id="1", tool="add", text="3"),
    CompletionCall(id="2", tool="sub", text="no", is_error=True),
    CompletionText(text="It is ", turn=2),
    CompletionText(text="3.", turn=2),
    END,
]


async def stream(*events: CompletionEvent) -> list[dict[str, Any]]:
    async def happen() -> AsyncGenerator[CompletionEvent]:
        for event in events:
            yield event

    chunks = [chunk.decode() async for chunk in stream_response(happen(), **HEAD)]
    return [json.loads(chunk.partition("data: ")[2]) for chunk in chunks]


def test_an_answer_is_a_response_with_texts_and_calls_in_order() -> None:
    made = Response.model_validate(make_response(END, **HEAD))

    assert [item.type for item in made.output] == ["message", "mcp_call", "mcp_call", "message"]
    assert made.output_text == "Wait.It is 3."
    assert [getattr(item, "status", "") for item in made.output[1:3]] == ["completed", "failed"]
    assert (made.status, made.usage and made.usage.total_tokens) == ("completed", 25)


async def test_a_stream_ends_with_the_items_that_it_has_shown() -> None:
    events = await stream(*EVENTS)
    shown = {
        event["output_index"]: event["item"]
        for event in events
        if event["type"] == "response.output_item.done"
    }
    last = events[-1]

    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert last["type"] == "response.completed"
    assert last["response"]["output"] == [shown[index] for index in range(4)]
    deltas = [e["delta"] for e in events if e["type"] == "response.output_text.delta"]
    assert "".join(deltas) == "Wait.It is 3."


async def test_every_item_of_a_stream_is_added_before_it_is_done() -> None:
    events = await stream(*EVENTS)
    added: list[int] = []
    for event in events:
        if event["type"] == "response.output_item.added":
            added.append(event["output_index"])
        elif "output_index" in event:
            assert event["output_index"] in added

    assert added == [0, 1, 2, 3]


async def test_a_failure_is_a_failed_response() -> None:
    error = {"code": "rate_limited", "message": "slow down"}
    events = await stream(CompletionEnd(state=NodeState.FAILED, error=error))
    made = Response.model_validate(events[-1]["response"])

    assert events[-1]["type"] == "response.failed"
    assert made.error is not None
    assert made.error.code == "rate_limit_exceeded"
