"""What models use for a question or a document counts in quotas, and is summed."""

from collections.abc import Sequence

import pytest
from tests.execution.limits.test_quotas import ADA, BOB, a_meter, a_quota

from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.embedder import EmbeddedTexts
from pegboard.core.principal import LOCAL
from pegboard.errors import QuotaExceeded
from pegboard.execution.limits.model_costs import ModelCosts

PAID = ModelUsage(requests=1, input_tokens=10, cost=0.75)
FREE = ModelUsage(requests=1, input_tokens=5)


class PaidEmbedder:
    name = "test:paid"

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        return [*(await self.embed_metered(texts)).vectors]

    async def embed_metered(self, texts: Sequence[str], /) -> EmbeddedTexts:
        return EmbeddedTexts([[1.0]] * len(texts), PAID)


class UnmeteredEmbedder:
    name = "test:unmetered"

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        return [[2.0]] * len(texts)


async def test_costs_count_for_their_caller_alone_until_they_are_spent() -> None:
    meter = a_meter(a_quota(1.0, measure="cost", person="u_ada"))
    costs = ModelCosts(meter, ADA)
    for _ in range(2):
        await costs.check()
        costs.add("test:paid", PAID)

    with pytest.raises(QuotaExceeded):
        await costs.check()
    await ModelCosts(meter, BOB).check()


def test_uses_are_summed_and_reported_and_a_price_that_is_not_known_makes_the_sum_unknown() -> None:
    reported: list[tuple[str, ModelUsage]] = []
    costs = ModelCosts(None, LOCAL, report=lambda model, usage: reported.append((model, usage)))
    costs.add("a", PAID)
    costs.add("b", FREE)
    costs.add("c", ModelUsage())

    assert (costs.model, costs.usage) == ("b", ModelUsage(requests=2, input_tokens=15))
    assert reported == [("a", PAID), ("b", FREE)]


async def test_an_embedder_is_checked_before_each_request_and_counted_after_it() -> None:
    meter = a_meter(a_quota(0.5, measure="cost", person="u_ada"))
    costs = ModelCosts(meter, ADA)
    embedder = costs.wrap_embedder(PaidEmbedder())
    assert embedder is not None

    assert await embedder.embed(["x", "y"]) == [[1.0], [1.0]]
    assert (embedder.name, costs.usage) == ("test:paid", PAID)
    with pytest.raises(QuotaExceeded):
        await embedder.embed(["z"])


async def test_an_embedder_that_does_not_say_what_it_uses_counts_nothing() -> None:
    costs = ModelCosts(None, LOCAL)
    embedder = costs.wrap_embedder(UnmeteredEmbedder())
    assert embedder is not None

    assert await embedder.embed(["x"]) == [[2.0]]
    assert costs.usage == ModelUsage()
    assert costs.wrap_embedder(None) is None
