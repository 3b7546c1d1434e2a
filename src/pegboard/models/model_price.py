"""What a model costs: as its operator says, or as the provider's library knows."""

import asyncio
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from pegboard.core.model_messages import ModelUsage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UsagePrice:
    """The price of a model, in US dollars.

    Attributes:
        input: A million input tokens.
        output: A million output tokens.
        request: A request, or what its provider bills as one (a search unit of a reranker).
    """

    input: float = 0.0
    output: float = 0.0
    request: float = 0.0

    def apply(self, usage: ModelUsage, *, requests: float | None = None) -> ModelUsage:
        """What was used with its cost; None where tokens cost something and are not known.

        Args:
            usage: Of some requests.
            requests: How many are billed, where that is not their number.
        """
        if self.input and usage.requests and not usage.input_tokens:
            return structs.replace(usage, cost=None)
        tokens = self.input * usage.input_tokens + self.output * usage.output_tokens
        count = usage.requests if requests is None else requests
        return structs.replace(usage, cost=tokens / _MILLION + self.request * count)


class PriceList:
    """The price of one model, which is looked up once, in a thread.

    Args:
        name: `provider:model`.
        price: As its operator says; None to look it up.
    """

    def __init__(self, name: str, price: UsagePrice | None) -> None:
        self._name = name
        self._price = price
        self._is_known = price is not None

    async def apply(self, usage: ModelUsage, *, requests: float | None = None) -> ModelUsage:
        """What was used with its cost, as far as it is known; as of `UsagePrice.apply`."""
        if not self._is_known:
            self._price = await asyncio.to_thread(find_price, self._name)
            self._is_known = True
        return usage if self._price is None else self._price.apply(usage, requests=requests)


def find_price(name: str) -> UsagePrice | None:
    """The price of a model's input; None where it is not known, or the extra `models` missing.

    Args:
        name: `provider:model`.
    """
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    provider, _, model = name.partition(":")
    usage: Any = Usage(input_tokens=_MILLION)
    try:
        found = calc_price(usage, model, provider_id=provider)
    except (LookupError, ValueError):
        return None
    return UsagePrice(input=float(found.total_price))
