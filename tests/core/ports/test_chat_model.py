from collections.abc import AsyncIterator

import pytest

from pegboard.core.model_messages import ModelPart, ModelRequest, TextDelta, UserMessage
from pegboard.core.ports.chat_model import complete
from pegboard.errors import Unavailable
from pegboard.testing import ScriptedModel, Turn

ASKED = ModelRequest(messages=(UserMessage(text="hi"),))


class Cut(ScriptedModel):
    """Stops in the middle of its answer."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        async for part in super().stream(request):
            if isinstance(part, TextDelta):
                yield part


async def test_the_whole_answer_is_the_last_part() -> None:
    response = await complete(ScriptedModel(Turn(text="Hello you.")), ASKED)

    assert response.message.text == "Hello you."


async def test_a_stream_without_an_end_is_no_answer() -> None:
    with pytest.raises(Unavailable, match="scripted:model"):
        await complete(Cut(Turn(text="Hello you.")), ASKED)
