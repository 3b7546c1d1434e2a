"""Embeddings of a provider, over a real socket."""

from collections.abc import AsyncGenerator

import pytest
from tests.models.made import Provider, a_provider

from pegboard.core.tool import Limits
from pegboard.errors import ConfigError, RateLimited, Unavailable
from pegboard.execution.limits.limiters import Limiter
from pegboard.models import ModelEndpoint, ProviderEmbedder
from pegboard.network import GuardedClient, SsrfPolicy

KEY = "sk-very-secret-key"


@pytest.fixture
async def provider() -> AsyncGenerator[Provider]:
    async with a_provider() as opened:
        yield opened


@pytest.fixture
async def embedder(provider: Provider) -> AsyncGenerator[ProviderEmbedder]:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    settings = ModelEndpoint(name="openai:vectors-1", api_key=KEY, base_url=provider.url, retries=0)
    yield ProviderEmbedder(settings, client)
    await client.close()


async def test_each_text_has_its_vector(provider: Provider, embedder: ProviderEmbedder) -> None:
    assert await embedder.embed(["a", "bbb"]) == [[1.0, 0.5], [3.0, 0.5]]
    assert provider.requests[0]["model"] == "vectors-1"
    assert provider.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_many_texts_go_in_several_requests(
    provider: Provider, embedder: ProviderEmbedder
) -> None:
    vectors = await embedder.embed(["x" * (n % 7 + 1) for n in range(300)])

    assert [vector[0] for vector in vectors] == [n % 7 + 1 for n in range(300)]
    assert [len(asked["input"]) for asked in provider.requests] == [256, 44]


async def test_no_texts_need_no_request(provider: Provider, embedder: ProviderEmbedder) -> None:
    assert await embedder.embed([]) == []
    assert provider.requests == []


async def test_it_says_what_it_used(provider: Provider, embedder: ProviderEmbedder) -> None:
    found = await embedder.embed_metered(["x"] * 300)

    assert (len(found.vectors), found.usage.requests) == (300, 2)
    assert (found.usage.input_tokens > 0, found.usage.cost) == (True, None)


async def test_its_requests_are_limited(provider: Provider) -> None:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    settings = ModelEndpoint(name="openai:vectors-1", base_url=provider.url, retries=0)
    limiter = Limiter("model vectors", Limits(rate=1.0, per=6_000.0))
    embedder = ProviderEmbedder(settings, client, requests=limiter)
    await embedder.embed(["a"])

    with pytest.raises(RateLimited):
        await embedder.embed(["b"])

    await client.close()
    assert len(provider.requests) == 1


async def test_its_errors_are_ours(provider: Provider, embedder: ProviderEmbedder) -> None:
    provider.answers.append((503, {"error": {"message": KEY}}))
    with pytest.raises(Unavailable) as raised:
        await embedder.embed(["a"])

    assert KEY not in str(raised.value)


def test_a_provider_without_embeddings_is_refused() -> None:
    with pytest.raises(ConfigError, match="openai:name"):
        ProviderEmbedder(ModelEndpoint(name="anthropic:x"), GuardedClient())
