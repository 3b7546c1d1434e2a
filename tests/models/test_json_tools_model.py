"""Tools for a model that has none: JSON in its text."""

import json

import pytest

from pegboard.core.model_messages import (
    AssistantMessage,
    ModelRequest,
    ModelResponse,
    ModelTool,
    ModelUsage,
    SystemMessage,
    TextDelta,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pegboard.core.ports.chat_model import complete
from pegboard.models import JsonToolsModel
from pegboard.testing import ScriptedModel, Turn

ADD = ModelTool(name="add", description="Add.", parameters={"type": "object"})
ASKED = ModelRequest(
    messages=(SystemMessage(text="Be brief."), UserMessage(text="1 + 2?")), tools=(ADD,)
)
CALL = json.dumps({"type": "tool", "reasoning": "sum", "tool_name": "add", "tool_args": {"a": 1}})
ANSWER = json.dumps({"type": "answer", "answer": "It is 3."})
USED = ModelUsage(requests=1, input_tokens=10)


def plain(*texts: str, schema: bool = False) -> ScriptedModel:
    turns = [Turn(text=text, usage=USED) for text in texts]
    return ScriptedModel(*turns, supports_tools=False, supports_schema=schema)


async def test_a_call_is_read_from_its_text() -> None:
    model = plain(CALL)
    parts = [part async for part in JsonToolsModel(model).stream(ASKED)]
    (sent,), last = model.requests, parts[-1]

    assert isinstance(last, ModelResponse)
    assert last.message == AssistantMessage(
        thinking="sum", calls=(ToolCall(id="json_2", name="add", arguments='{"a":1}'),)
    )
    assert last.finish == "tool_calls"
    assert (len(parts), sent.tools) == (1, ())
    assert '"name": "add"' in sent.messages[1].text
    assert [type(message) for message in sent.messages] == [
        SystemMessage,
        SystemMessage,
        UserMessage,
    ]


async def test_the_answer_is_read_from_its_text() -> None:
    parts = [part async for part in JsonToolsModel(plain(ANSWER)).stream(ASKED)]

    assert parts[0] == TextDelta("It is 3.")
    assert isinstance(parts[-1], ModelResponse)
    assert parts[-1].message == AssistantMessage(text="It is 3.")


async def test_text_that_is_no_json_is_the_answer() -> None:
    assert (await complete(JsonToolsModel(plain("It is 3.")), ASKED)).message.text == "It is 3."


async def test_calls_and_results_are_told_as_text() -> None:
    call = AssistantMessage(calls=(ToolCall(id="c", name="add", arguments='{"a":1}'),))
    results = (
        ToolMessage(call_id="c", name="add", text="3"),
        ToolMessage(call_id="d", name="add", text="no", is_error=True),
    )
    model = plain(ANSWER)
    request = ModelRequest(messages=(*ASKED.messages, call, *results), tools=(ADD,))
    await complete(JsonToolsModel(model), request)

    assert [message.text for message in model.requests[0].messages[-3:]] == [
        '{"type": "tool", "tool_name": "add", "tool_args": {"a":1}}',
        "The tool 'add' gave:\n3",
        "The tool 'add' failed:\nno",
    ]


@pytest.mark.parametrize("broken", ['{"type": "tool", ', '{"type": "dance"}'], ids=["cut", "type"])
async def test_what_is_malformed_is_said_again_once(broken: str) -> None:
    model = plain(broken, CALL)
    answer = await complete(JsonToolsModel(model), ASKED)

    assert answer.message.calls[0].name == "add"
    assert answer.usage.requests == 2
    assert "no such JSON object" in model.requests[1].messages[-1].text

    twice = await complete(JsonToolsModel(plain(broken, broken)), ASKED)
    assert twice.message.text == broken


async def test_a_server_that_can_holds_it_to_the_form() -> None:
    model = plain(ANSWER, schema=True)
    await complete(JsonToolsModel(model), ASKED)

    assert model.requests[0].output_schema is not None


@pytest.mark.parametrize(
    "request_",
    [
        ModelRequest(messages=ASKED.messages),
        ModelRequest(messages=ASKED.messages, tools=(ADD,), tool_choice="none"),
    ],
    ids=["no tools", "an answer is due"],
)
async def test_without_tools_it_answers_plainly(request_: ModelRequest) -> None:
    model = plain("It is ", ANSWER)
    answer = await complete(JsonToolsModel(model), request_)

    assert answer.message.text == "It is "
    assert model.requests[0].messages == ASKED.messages
