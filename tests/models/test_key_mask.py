"""A key is masked wherever an answer repeats it, and whatever it is cut into."""

from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.core.model_messages import (
    AssistantMessage,
    ModelPart,
    ModelResponse,
    TextDelta,
    ThinkingDelta,
    ToolCall,
)
from pegboard.models.key_mask import MASK, KeyMask

KEY = 'sk-"a b"-a-secret'


async def stream(*parts: ModelPart) -> AsyncIterator[ModelPart]:
    for part in parts:
        yield part


async def read(key: str, *parts: ModelPart) -> list[ModelPart]:
    return [part async for part in KeyMask(key).clean_stream(stream(*parts))]


@given(st.lists(st.integers(0, 60), max_size=8), st.sampled_from(["", "sk-", "sk-sk-", '"']))
async def test_a_key_in_pieces_is_masked(cuts: list[int], start: str) -> None:
    text = f"{start}{KEY}, then {KEY}{start}"
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[a:b] for a, b in pairwise(places)]
    whole = ModelResponse(message=AssistantMessage(text=text))

    parts = await read(KEY, *map(TextDelta, pieces), whole)

    expected = f"{start}{MASK}, then {MASK}{start}"
    assert "".join(part.text for part in parts if isinstance(part, TextDelta)) == expected
    assert isinstance(parts[-1], ModelResponse)
    assert parts[-1].message.text == expected


async def test_it_is_masked_in_each_part_of_an_answer() -> None:
    message = AssistantMessage(
        thinking=KEY,
        calls=(ToolCall(id="1", name="send", arguments='{"text": "sk-\\"a b\\"-a-secret"}'),),
        provider={"signature": [KEY], "url": "x?k=sk-%22a%20b%22-a-secret"},
    )
    *deltas, last = await read(
        KEY,
        ThinkingDelta(KEY[:9]),
        ThinkingDelta(KEY[9:]),
        ModelResponse(message=message, model=KEY),
    )

    assert deltas == [ThinkingDelta(MASK)]
    assert last == ModelResponse(
        message=AssistantMessage(
            thinking=MASK,
            calls=(ToolCall(id="1", name="send", arguments=f'{{"text": "{MASK}"}}'),),
            provider={"signature": [MASK], "url": f"x?k={MASK}"},
        ),
        model=MASK,
    )


@pytest.mark.parametrize("key", ["", "none"])
async def test_without_a_secret_an_answer_stays_as_it_is(key: str) -> None:
    parts = [TextDelta("none"), ModelResponse(message=AssistantMessage(text="none"))]

    assert await read(key, *parts) == parts


def test_an_error_that_has_it_is_no_cause() -> None:
    mask = KeyMask(KEY)
    error, harmless = ValueError("refused"), ValueError("refused")
    error.__cause__ = OSError(f"Bearer {KEY}")

    assert mask.clean_cause(error) is None
    assert mask.clean_cause(harmless) is harmless
