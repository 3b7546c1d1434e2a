"""Limits of a model: requests and tokens a minute, and requests in flight."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from pegboard.core.model_messages import ModelPart, ModelRequest, ModelUsage, UserMessage
from pegboard.core.ports.chat_model import complete
from pegboard.core.tool import Limits
from pegboard.errors import RateLimited, Unavailable
from pegboard.execution.limits.limiters import Limiter
from pegboard.models import LimitedModel, TokenRate
from pegboard.testing import ScriptedModel, Turn

ASKED = ModelRequest(messages=(UserMessage(text="hi"),))
USED = ModelUsage(requests=1, input_tokens=90, output_tokens=10)


def limited(model: ScriptedModel, limits: Limits, tokens: TokenRate | None = None) -> LimitedModel:
    return LimitedModel(model, Limiter("model x", limits), tokens=tokens)


class SlowModel(ScriptedModel):
    def __init__(self, *turns: Turn) -> None:
        super().__init__(*turns)
        self.now = self.most = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.02)
        self.now -= 1
        async for part in super().stream(request):
            yield part


async def test_requests_beyond_the_concurrency_wait() -> None:
    slow = SlowModel(*[Turn(text="x")] * 6)
    model = limited(slow, Limits(concurrency=2))
    async with asyncio.TaskGroup() as group:
        for _ in range(6):
            group.create_task(complete(model, ASKED))

    assert (slow.most, len(slow.requests)) == (2, 6)


async def test_requests_beyond_the_rate_are_refused_after_a_minute() -> None:
    model = limited(ScriptedModel(*[Turn(text="x")] * 3), Limits(rate=1, per=90))
    await complete(model, ASKED)
    with pytest.raises(RateLimited) as raised:
        await complete(model, ASKED)

    assert raised.value.retry_after == pytest.approx(90, abs=1)


async def test_a_request_after_too_many_tokens_waits() -> None:
    scripted = ScriptedModel(*[Turn(text="x", usage=USED)] * 3)
    model = limited(scripted, Limits(), TokenRate(tokens=150, per=0.2))
    loop = asyncio.get_running_loop()
    start = loop.time()
    for _ in range(3):
        await complete(model, ASKED)

    assert 0.19 <= loop.time() - start < 2


async def test_tokens_that_no_minute_gives_back_refuse_the_request() -> None:
    scripted = ScriptedModel(*[Turn(text="x", usage=USED)] * 2)
    model = limited(scripted, Limits(), TokenRate(tokens=50, per=3600))
    await complete(model, ASKED)
    with pytest.raises(RateLimited, match="50 tokens"):
        await complete(model, ASKED)

    assert len(scripted.requests) == 1


async def test_a_failed_request_gives_its_place_back() -> None:
    scripted = ScriptedModel(Turn(error=Unavailable("down")), Turn(text="x"))
    model = limited(scripted, Limits(concurrency=1))
    with pytest.raises(Unavailable):
        await complete(model, ASKED)

    assert (await complete(model, ASKED)).message.text == "x"


def test_it_is_the_model_that_it_limits() -> None:
    model = limited(ScriptedModel(name="a:b", context_window=9, supports_schema=True), Limits())

    assert (model.name, model.context_window) == ("a:b", 9)
    assert (model.supports_tools, model.supports_schema) == (True, True)
