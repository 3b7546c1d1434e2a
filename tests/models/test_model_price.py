"""What models cost: as their operator says, or as the provider's library knows."""

import pytest

from pegboard.core.model_messages import ModelUsage
from pegboard.models import UsagePrice
from pegboard.models.model_price import PriceList, find_price

USED = ModelUsage(requests=2, input_tokens=1_000, output_tokens=100)


@pytest.mark.parametrize(
    ("price", "cost"),
    [
        (UsagePrice(input=2.0), 0.002),
        (UsagePrice(input=2.0, output=10.0), 0.003),
        (UsagePrice(request=0.002), 0.004),
        (UsagePrice(), 0.0),
    ],
    ids=["input", "input and output", "requests", "free"],
)
def test_a_price_is_applied_to_what_was_used(price: UsagePrice, cost: float) -> None:
    assert price.apply(USED).cost == pytest.approx(cost)


def test_a_provider_may_bill_another_number_of_requests() -> None:
    assert UsagePrice(request=0.002).apply(USED, requests=3).cost == pytest.approx(0.006)


def test_a_cost_by_tokens_is_unknown_where_the_tokens_are() -> None:
    assert UsagePrice(input=2.0).apply(ModelUsage(requests=1)).cost is None


async def test_a_price_that_nobody_has_said_is_looked_up() -> None:
    known, unknown = PriceList("openai:text-embedding-3-small", None), PriceList("jina:x", None)

    assert (await known.apply(USED)).cost == pytest.approx(0.00002)
    assert (await unknown.apply(USED)).cost is None
    assert find_price("openai:text-embedding-3-small") == UsagePrice(input=0.02)
