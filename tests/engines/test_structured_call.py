"""A structured call: an answer as an object that fits a schema, repaired where it does not."""

import asyncio
import json
from typing import Any

import pytest

from pegboard.core.model_messages import (
    ModelRequest,
    ModelUsage,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from pegboard.engines.structured_call import SchemaAnswer, structured_llm_call
from pegboard.errors import InvalidRequest, Unavailable
from pegboard.testing import ScriptedModel, Turn

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["city", "people"],
    "additionalProperties": False,
}
ASKED = (SystemMessage(text="Be brief."), UserMessage(text="The largest city of France?"))
PARIS = {"city": "Paris", "people": 2_100_000}
USED = ModelUsage(requests=1, input_tokens=10, output_tokens=5)


def a_model(*turns: Turn, native: bool = False, tools: bool = True) -> ScriptedModel:
    return ScriptedModel(*turns, supports_schema=native, supports_tools=tools)


def ask(model: ScriptedModel, schema: dict[str, Any] = SCHEMA) -> SchemaAnswer:
    return asyncio.run(structured_llm_call(model, ASKED, schema))


def last_text(request: ModelRequest) -> str:
    return request.messages[-1].text


def test_a_provider_that_can_holds_the_model_to_the_schema() -> None:
    model = a_model(Turn(text=json.dumps(PARIS), usage=USED), native=True)
    answer = ask(model)

    assert answer == SchemaAnswer(value=PARIS, usage=USED, model="model", mode="native")
    assert model.requests[0].output_schema == SCHEMA
    assert model.requests[0].tools == ()


def test_else_the_model_calls_a_tool_with_the_schema() -> None:
    model = a_model(Turn(calls=(("answer", PARIS),)))
    answer = ask(model)

    assert (answer.value, answer.mode) == (PARIS, "tool")
    assert model.requests[0].tool_choice == "answer"
    assert model.requests[0].tools[0].parameters == SCHEMA


def test_else_the_model_is_told_the_schema_behind_its_instructions() -> None:
    model = a_model(Turn(text=json.dumps(PARIS)), tools=False)
    answer = ask(model)

    assert (answer.value, answer.mode) == (PARIS, "prompted")
    assert [type(message) for message in model.requests[0].messages] == [
        SystemMessage,
        SystemMessage,
        UserMessage,
    ]
    assert '"people"' in model.requests[0].messages[1].text


@pytest.mark.parametrize(
    "text",
    [
        f"Here it is:\n```json\n{json.dumps(PARIS)}\n```\nAnything else?",
        f"As {{asked}}: {json.dumps(PARIS)}.",
        json.dumps({"city": "Paris", "people": "2100000"}),
    ],
    ids=["fenced", "within prose", "a number as text"],
)
def test_what_models_write_around_their_answer_is_read(text: str) -> None:
    assert ask(a_model(Turn(text=text), tools=False)).value == PARIS


def test_faults_go_back_to_the_model() -> None:
    model = a_model(
        Turn(calls=(("answer", {"city": "Paris"}),), usage=USED),
        Turn(calls=(("answer", {**PARIS, "people": "many"}),), usage=USED),
        Turn(calls=(("answer", PARIS),), usage=USED),
    )
    answer = ask(model)

    assert (answer.value, answer.repairs, answer.usage.requests) == (PARIS, 2, 3)
    assert isinstance(model.requests[1].messages[-1], ToolMessage)
    assert "people" in last_text(model.requests[1])
    assert "many" in last_text(model.requests[2])


def test_an_answer_in_text_that_is_none_is_asked_for_again_with_the_schema() -> None:
    model = a_model(Turn(text="Paris!"), Turn(text=json.dumps(PARIS)), native=True)

    assert ask(model).value == PARIS
    assert "no JSON object" in last_text(model.requests[1])
    assert '"people"' in last_text(model.requests[1])


def test_an_answer_that_was_cut_is_asked_for_again() -> None:
    model = a_model(Turn(calls=(("answer", PARIS),), is_cut=True), Turn(calls=(("answer", PARIS),)))

    assert ask(model).repairs == 1
    assert "cut at its limit" in last_text(model.requests[1])


def test_repairs_are_bounded() -> None:
    model = a_model(*[Turn(calls=(("answer", {"city": 1}),))] * 9)
    with pytest.raises(Unavailable, match="3 times") as raised:
        ask(model)

    assert len(model.requests) == 3
    assert "people" in str(raised.value)


def test_what_a_call_has_used_is_reported_also_where_it_fails() -> None:
    used: list[ModelUsage] = []
    model = a_model(
        Turn(calls=(("answer", {"city": 1}),), usage=USED), Turn(error=Unavailable("down"))
    )
    with pytest.raises(Unavailable, match="down"):
        asyncio.run(structured_llm_call(model, ASKED, SCHEMA, report=used.append))

    assert used == [USED]


def test_a_refused_way_gives_place_to_the_next() -> None:
    refused = Turn(error=InvalidRequest("no response_format here"))
    model = a_model(refused, refused, Turn(text=json.dumps(PARIS)), native=True)

    assert ask(model).mode == "prompted"


def test_a_request_that_is_refused_in_all_ways_says_why() -> None:
    refused = Turn(error=InvalidRequest("too long"))
    with pytest.raises(InvalidRequest, match="too long"):
        ask(a_model(refused, refused))


def test_an_outage_is_not_asked_again_in_another_way() -> None:
    model = a_model(Turn(error=Unavailable("down")))
    with pytest.raises(Unavailable, match="down"):
        ask(model)

    assert len(model.requests) == 1


def test_the_schema_is_of_an_object() -> None:
    with pytest.raises(InvalidRequest, match="object"):
        ask(a_model(), {"type": "string"})
