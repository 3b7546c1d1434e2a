"""The form of an answer: what a model is told, and what fits."""

from typing import Any

import pytest

from pegboard.core.model_messages import AssistantMessage, ModelResponse, ToolCall
from pegboard.engines.answer_schema import AnswerSchema, format_problems
from pegboard.errors import InvalidRequest, ToolArgumentError

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def a_response(text: str = "", **known: Any) -> ModelResponse:
    calls = known.pop("calls", ())
    return ModelResponse(message=AssistantMessage(text=text, calls=calls), **known)


@pytest.mark.parametrize(
    "response",
    [
        a_response('{"n": 1}'),
        a_response('First {}, then {"n": "1"}.'),
        a_response(calls=(ToolCall(id="1", name="answer", arguments='{"n": 1}'),)),
    ],
    ids=["an object", "among others", "a call"],
)
def test_the_object_of_an_answer_is_read(response: ModelResponse) -> None:
    assert AnswerSchema(SCHEMA).read(response) == {"n": 1}


@pytest.mark.parametrize(
    ("response", "fault"),
    [
        (a_response("one"), "there is no JSON object"),
        (a_response('{"n": "one"}'), "n: expected an integer"),
        (a_response('{"n": 1}', finish="length"), "cut at its limit"),
    ],
    ids=["text", "another type", "cut"],
)
def test_the_faults_of_an_answer_are_told(response: ModelResponse, fault: str) -> None:
    form = AnswerSchema(SCHEMA)
    with pytest.raises(ToolArgumentError) as caught:
        form.read(response)

    assert fault in format_problems(caught.value)
    assert form.describe() in form.describe_faults(caught.value)


@pytest.mark.parametrize("schema", [{"type": "array"}, {}, {"type": "object", "required": 7}])
def test_a_schema_of_something_else_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        AnswerSchema(schema)
