"""A chat model whose requests and tokens are limited."""

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol

from pegboard.core.model_messages import ModelPart, ModelRequest, ModelResponse
from pegboard.core.ports.chat_model import ChatModel
from pegboard.errors import RateLimited

LONGEST_WAIT = 60.0
"""Seconds that a request waits for its turn."""


class RequestLimiter(Protocol):
    """Limits the rate of requests and how many are in flight."""

    async def enter(self, longest_wait: float) -> None:
        """Wait for a turn.

        Raises:
            RateLimited: The wait would be longer than that.
        """
        ...

    def leave(self) -> None:
        """Release the turn."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRate:
    """At most this many tokens, of input and output together, in so many seconds."""

    tokens: float
    per: float


class LimitedModel:
    """Makes requests wait for their turn, up to a minute; then they are refused as `RateLimited`.

    Args:
        model: Is asked.
        requests: Limits requests.
        tokens: Limits tokens. They are counted when an answer is complete, so that a request which
            exceeds the limit is still answered, and the next one waits longer.
        monotonic: A monotonic clock, in seconds.
    """

    def __init__(
        self,
        model: ChatModel,
        requests: RequestLimiter,
        *,
        tokens: TokenRate | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._requests = requests
        self._tokens = _TokenWindow(model.name, tokens, monotonic) if tokens else None
        self.name = model.name
        self.context_window = model.context_window
        self.supports_tools = model.supports_tools
        self.supports_schema = model.supports_schema

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        """Ask the model when it is this request's turn; errors as of `ChatModel`.

        Raises:
            RateLimited: The wait would be too long; says when to try again.
        """
        response: ModelResponse | None = None
        await self._requests.enter(LONGEST_WAIT)
        try:
            if self._tokens is not None:
                await self._tokens.wait(LONGEST_WAIT)
            async for part in self._model.stream(request):
                if isinstance(part, ModelResponse):
                    response = part
                else:
                    yield part
        finally:
            self._requests.leave()
        if response is not None:
            if self._tokens is not None:
                self._tokens.add(response.usage.input_tokens + response.usage.output_tokens)
            yield response


class _TokenWindow:
    """Tokens of the last seconds."""

    def __init__(self, name: str, rate: TokenRate, monotonic: Callable[[], float]) -> None:
        self._name = name
        self._rate = rate
        self._monotonic = monotonic
        self._used: deque[tuple[float, int]] = deque()
        self._sum = 0

    async def wait(self, longest: float) -> None:
        """Wait until the window is below its limit."""
        deadline = self._monotonic() + longest
        while (delay := self._delay()) > 0:
            if self._monotonic() + delay > deadline:
                raise RateLimited(
                    f"The limit of {self._rate.tokens:g} tokens per {self._rate.per:g} s for "
                    f"'{self._name}' is reached.",
                    retry_after=delay,
                    nothing_done=True,
                )
            await asyncio.sleep(delay)

    def add(self, tokens: int) -> None:
        """Count what a request has used."""
        self._used.append((self._monotonic(), tokens))
        self._sum += tokens

    def _delay(self) -> float:
        """Seconds until enough of the window's tokens are old."""
        now = self._monotonic()
        while self._used and self._used[0][0] <= now - self._rate.per:
            self._sum -= self._used.popleft()[1]
        over = self._sum - self._rate.tokens
        wait = 0.0
        for at, tokens in self._used:
            if over < 0:
                break
            wait, over = at + self._rate.per - now, over - tokens
        return math.nextafter(wait, math.inf) if wait else 0.0
