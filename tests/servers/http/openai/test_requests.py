"""Requests in OpenAI's formats, as messages."""

from typing import Any

import pytest

from pegboard.core.model_messages import (
    AssistantMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pegboard.errors import InvalidRequest
from pegboard.servers.http.openai.requests import (
    CompletionBody,
    RespondBody,
    read_input,
    read_messages,
)

HI = {"role": "user", "content": "hi"}


def completion(*messages: Any, **more: Any) -> CompletionBody:
    return CompletionBody.model_validate({"model": "auto", "messages": messages, **more})


def response(given: Any, **more: Any) -> RespondBody:
    return RespondBody.model_validate({"model": "auto", "input": given, **more})


def test_every_role_of_a_conversation_is_read() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    messages = read_messages(
        completion(
            {"role": "system", "content": "Be brief."},
            {"role": "developer", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": text} for text in "ab"]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "7"},
            HI,
        )
    )

    assert messages == [
        SystemMessage(text="Be brief."),
        SystemMessage(text="Be kind."),
        UserMessage(text="ab"),
        AssistantMessage(calls=(ToolCall(id="1", name="find", arguments="{}"),)),
        ToolMessage(call_id="1", name="find", text="7"),
        UserMessage(text="hi"),
    ]


def test_the_input_of_a_response_is_text_or_items() -> None:
    assert read_input(response("hi", instructions="Be brief.")) == [
        SystemMessage(text="Be brief."),
        UserMessage(text="hi"),
    ]
    call = {"type": "mcp_call", "id": "1", "name": "find", "arguments": "{}", "output": "7"}
    answer = {"role": "assistant", "content": [{"type": "output_text", "text": "7."}]}
    assert read_input(response([HI, {"type": "reasoning", "id": "x"}, call, answer])) == [
        UserMessage(text="hi"),
        AssistantMessage(calls=(ToolCall(id="1", name="find", arguments="{}"),)),
        ToolMessage(call_id="1", name="find", text="7"),
        AssistantMessage(text="7."),
    ]


def test_an_image_is_refused() -> None:
    image = {"role": "user", "content": [{"type": "image_url"}]}

    with pytest.raises(InvalidRequest, match="type 'image_url'"):
        read_messages(completion(image))


def test_other_items_of_an_input_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="found 'computer_call'"):
        read_input(response([{"type": "computer_call"}]))
