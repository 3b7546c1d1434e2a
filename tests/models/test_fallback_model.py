"""Fallbacks: the next model is asked where a provider fails before it has said anything."""

import logging
from collections.abc import AsyncIterator

import pytest

from pegboard.core.model_messages import ModelPart, ModelRequest, TextDelta, UserMessage
from pegboard.core.ports.chat_model import complete
from pegboard.errors import ConfigError, InvalidRequest, RateLimited, Unavailable
from pegboard.models import FallbackModel
from pegboard.testing import ScriptedModel, Turn

ASKED = ModelRequest(messages=(UserMessage(text="hi"),))


def failing(error: Exception, name: str = "openai:first") -> ScriptedModel:
    return ScriptedModel(Turn(error=error), name=name)


@pytest.mark.parametrize(
    "error",
    [Unavailable("down"), RateLimited("busy"), ConfigError("refused the key")],
    ids=["down", "busy", "a refused key"],
)
async def test_the_next_model_answers_for_one_that_fails(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    second = ScriptedModel(Turn(text="Hello."), name="openai:second")
    with caplog.at_level(logging.WARNING, "pegboard.models"):
        answer = await complete(FallbackModel([failing(error), second]), ASKED)

    assert (answer.message.text, answer.model) == ("Hello.", "second")
    assert f"'openai:first' failed, the next one is asked: {error}" in caplog.text


async def test_the_error_of_the_last_one_is_the_answer() -> None:
    models = [failing(Unavailable("one")), failing(Unavailable("two"))]
    with pytest.raises(Unavailable, match="two"):
        await complete(FallbackModel(models), ASKED)


async def test_a_refused_request_is_not_sent_elsewhere() -> None:
    second = ScriptedModel(Turn(text="Hello."))
    with pytest.raises(InvalidRequest):
        await complete(FallbackModel([failing(InvalidRequest("bad")), second]), ASKED)

    assert second.requests == []


class CutModel(ScriptedModel):
    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        yield TextDelta("Hel")
        raise Unavailable("cut")


async def test_an_answer_that_was_cut_is_not_mixed_with_another() -> None:
    second = ScriptedModel(Turn(text="Hello."))
    with pytest.raises(Unavailable, match="cut"):
        await complete(FallbackModel([CutModel(), second]), ASKED)

    assert second.requests == []


def test_it_promises_what_all_of_its_models_keep() -> None:
    model = FallbackModel(
        [
            ScriptedModel(name="a:big", context_window=400_000, supports_schema=True),
            ScriptedModel(name="b:small", context_window=8_000),
            ScriptedModel(name="c:unknown"),
        ]
    )

    assert (model.name, model.context_window) == ("a:big", 8_000)
    assert (model.supports_tools, model.supports_schema) == (True, False)
