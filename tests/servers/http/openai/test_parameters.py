"""Parameters of requests in OpenAI's formats: used, or refused by name."""

from typing import Any

import pytest
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params

from pegboard.core.model_messages import ModelSettings
from pegboard.errors import InvalidRequest
from pegboard.servers.http.openai.parameters import CHAT, HINTS, RESPONSES
from pegboard.servers.http.openai.requests import CompletionBody, RespondBody

SHAPE: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
SAMPLING = {"temperature": 0.5, "top_p": 0.9}


def completion(**given: Any) -> CompletionBody:
    messages = [{"role": "user", "content": "hi"}]
    return CompletionBody.model_validate({"model": "auto", "messages": messages, **given})


def response(**given: Any) -> RespondBody:
    return RespondBody.model_validate({"model": "auto", "input": "hi", **given})


@pytest.mark.parametrize(
    ("body", "settings"),
    [
        (completion(), ModelSettings()),
        (completion(**SAMPLING, seed=7), ModelSettings(temperature=0.5, top_p=0.9, seed=7)),
        (completion(stop="END"), ModelSettings(stop=("END",))),
        (completion(stop=["a", "b"]), ModelSettings(stop=("a", "b"))),
        (completion(max_tokens=9), ModelSettings(max_output=9)),
        (completion(max_tokens=9, max_completion_tokens=9), ModelSettings(max_output=9)),
        (response(), ModelSettings()),
        (
            response(**SAMPLING, max_output_tokens=9),
            ModelSettings(temperature=0.5, top_p=0.9, max_output=9),
        ),
    ],
    ids=["none", "sampling", "a stop", "stops", "a limit", "twice", "no response", "a response"],
)
def test_settings_are_read(body: CompletionBody | RespondBody, settings: ModelSettings) -> None:
    assert body.read_settings() == settings
    assert body.read_schema() is None


@pytest.mark.parametrize(
    "body",
    [
        completion(response_format={"type": "json_schema", "json_schema": {"schema": SHAPE}}),
        response(text={"format": {"type": "json_schema", "name": "n", "schema": SHAPE}}),
    ],
    ids=["completion", "response"],
)
def test_the_schema_of_an_answer_is_read(body: CompletionBody | RespondBody) -> None:
    assert body.read_schema() == SHAPE


def test_the_description_of_a_schema_is_part_of_it() -> None:
    named = {"schema": SHAPE, "description": "A number."}
    body = completion(response_format={"type": "json_schema", "json_schema": named})

    assert body.read_schema() == {"description": "A number.", **SHAPE}


def test_any_object_is_the_schema_of_json() -> None:
    assert completion(response_format={"type": "json_object"}).read_schema() == {"type": "object"}
    assert response(text={"format": {"type": "text"}}).read_schema() is None


@pytest.mark.parametrize("schema", [None, {"type": "array"}, {"type": "object", "required": 1}])
def test_a_schema_that_cannot_be_used_is_refused(schema: Any) -> None:
    body = response(text={"format": {"type": "json_schema", "name": "n", "schema": schema}})
    with pytest.raises(InvalidRequest) as caught:
        body.read_schema()

    assert caught.value.parameter == "text.format.schema"


@pytest.mark.parametrize(
    ("body", "parameter", "message"),
    [
        (completion(tools=[{"type": "function"}]), "tools", "call its own tools"),
        (completion(n=2), "n", "set it to null or 1"),
        (completion(logprobs=True), "logprobs", "do not support 'logprobs'"),
        (completion(store=True), "store", "is a run, which is stored"),
        (completion(tool_choice="required"), "tool_choice", "null or 'auto'"),
        (completion(no_such=1), "no_such", "There is no parameter 'no_such'"),
        (completion(max_tokens=1, max_completion_tokens=2), "max_tokens", "contradict"),
        (
            completion(stream=True, stream_options={"include_obfuscation": True}),
            "stream_options.include_obfuscation",
            "null or False",
        ),
        (response(background=True), "background", "do not support 'background'"),
        (response(store=False), "store", "is a run, which is stored"),
        (response(seed=7), "seed", "There is no parameter 'seed'"),
        (response(text={"verbosity": "low"}), "text.verbosity", "null or 'medium'"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(
    body: CompletionBody | RespondBody, parameter: str, message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message) as caught:
        body.read_settings()

    assert caught.value.parameter == parameter


@pytest.mark.parametrize(
    "body",
    [
        completion(tools=[], n=1, logprobs=False, frequency_penalty=0, user="ada", seed=None),
        completion(metadata={"a": "b"}, prompt_cache_key="k", logit_bias={}, audio=None),
        response(store=True, background=False, include=[], truncation="auto", reasoning=None),
    ],
)
def test_what_asks_for_nothing_is_accepted(body: CompletionBody | RespondBody) -> None:
    assert body.read_settings() == ModelSettings()


@pytest.mark.parametrize(
    ("params", "model", "known"),
    [
        (completion_create_params.CompletionCreateParamsBase, CompletionBody, CHAT),
        (response_create_params.ResponseCreateParamsBase, RespondBody, RESPONSES),
    ],
    ids=["completions", "responses"],
)
def test_every_parameter_of_the_official_client_is_known(
    params: Any, model: Any, known: Any
) -> None:
    missing = params.__annotations__.keys() - model.model_fields.keys() - known.keys() - HINTS

    assert missing == set()
