"""Responses, as objects with items and as events."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest
from openai.types.responses import Response

from pegboard.core.graph import NodeState
from pegboard.core.model_messages import AssistantMessage, ModelUsage, ToolCall, ToolMessage
from pegboard.features.completions import (
    CompletionCall,
    CompletionEnd,
    CompletionEvent,
    CompletionText,
)
from pegboard.servers.http.openai.responses import ResponseHead, make_response, stream_response

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
HEAD = ResponseHead(id="resp_1", model="auto", created=7)
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


async def stream(*events: CompletionEvent, head: ResponseHead = HEAD) -> list[dict[str, Any]]:
    async def happen() -> AsyncGenerator[CompletionEvent]:
        for event in events:
            yield event

    chunks = [chunk.decode() async for chunk in stream_response(happen(), head)]
    return [json.loads(chunk.partition("data: ")[2]) for chunk in chunks]


def test_an_answer_is_a_response_with_texts_and_calls_in_order() -> None:
    made = Response.model_validate(make_response(END, HEAD))

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


JSON_HEAD = replace(HEAD, is_json=True, echoed={"temperature": 0.5, "metadata": {"a": "b"}})


async def test_json_is_the_only_text_of_its_response_also_in_a_stream() -> None:
    end = replace(END, text='{"sum": 3}')
    messages = [*end.messages[:-1], AssistantMessage(text='{"sum": 3}')]
    end = replace(end, messages=messages)
    made = Response.model_validate(make_response(end, JSON_HEAD))
    events = await stream(*EVENTS[:-1], end, head=JSON_HEAD)

    assert made.output_text == '{"sum": 3}'
    assert [item.type for item in made.output] == ["mcp_call", "mcp_call", "message"]
    assert (made.temperature, made.metadata) == (0.5, {"a": "b"})
    deltas = [event["delta"] for event in events if event["type"] == "response.output_text.delta"]
    assert deltas == ['{"sum": 3}']


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("length", "max_output_tokens"), ("content_filter", "content_filter")],
)
async def test_an_answer_that_was_cut_is_incomplete(finish: Any, reason: str) -> None:
    end = replace(END, finish=finish)
    made = Response.model_validate(make_response(end, HEAD))
    events = await stream(end)

    assert made.status == "incomplete"
    assert made.incomplete_details is not None
    assert made.incomplete_details.reason == reason
    assert events[-1]["type"] == "response.incomplete"
