"""A tool's request to the model of its agent, and the answer."""

import pytest

from pegboard.core.elicitation import SampleMessage, SampleRequest
from pegboard.core.model_messages import (
    AssistantMessage,
    ModelSettings,
    ModelUsage,
    SystemMessage,
    UserMessage,
)
from pegboard.core.result import ImagePart, TextPart
from pegboard.engines.react.model_sampler import MAX_TOKENS, ModelSampler
from pegboard.errors import ElicitationUnavailable
from pegboard.testing import ScriptedModel, Turn


def said(role: str, *texts: str) -> SampleMessage:
    parts = tuple(TextPart(text=text) for text in texts)
    return SampleMessage(role="assistant" if role == "assistant" else "user", content=parts)


async def test_the_model_is_asked_what_the_tool_sends_and_no_more() -> None:
    model = ScriptedModel(Turn(text="Blue."), Turn(text="Blu", is_cut=True))
    sampler = ModelSampler(model)
    request = SampleRequest(
        messages=(said("user", "Which", "colour?"), said("assistant", "Red."), said("user", "No.")),
        max_tokens=10**9,
        system_prompt="Be brief.",
        temperature=0.5,
        stop_sequences=("!",),
    )

    first, second = await sampler.sample(request), await sampler.sample(request)

    assert first.content == (TextPart(text="Blue."),)
    assert (first.stop_reason, second.stop_reason) == ("endTurn", "maxTokens")
    assert sampler.usage == ModelUsage(requests=2)
    assert model.requests[0].messages == (
        SystemMessage(text="Be brief."),
        UserMessage(text="Which\ncolour?"),
        AssistantMessage(text="Red."),
        UserMessage(text="No."),
    )
    assert model.requests[0].settings == ModelSettings(
        max_output=MAX_TOKENS, temperature=0.5, stop=("!",)
    )


async def test_something_other_than_text_is_refused() -> None:
    image = SampleMessage(role="user", content=(ImagePart(data=b"x", media_type="image/png"),))

    with pytest.raises(ElicitationUnavailable, match="in text only"):
        await ModelSampler(ScriptedModel()).sample(SampleRequest(messages=(image,)))
