"""Embeddings of a provider, over a real socket."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest
from tests.models.made import Provider, a_provider

from pegboard.core.tool import Limits
from pegboard.errors import ConfigError, InvalidRequest, PegboardError, RateLimited, Unavailable
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


async def test_the_cost_is_known_where_the_price_is(provider: Provider) -> None:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    endpoint = ModelEndpoint(name="openai:text-embedding-3-small", base_url=provider.url)
    provider.answers.append((200, answer([1.0], tokens=500_000)))
    found = await ProviderEmbedder(endpoint, client).embed_metered(["a"])
    await client.close()

    assert found.usage.cost == pytest.approx(0.01)  # two cents a million tokens


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (307, ConfigError),
        (401, ConfigError),
        (404, ConfigError),
        (422, InvalidRequest),
        (429, Unavailable),
        (503, Unavailable),
    ],
)
async def test_its_errors_are_ours(
    provider: Provider, embedder: ProviderEmbedder, status: int, error: type[PegboardError]
) -> None:
    provider.answers.append((status, {"error": {"message": KEY}}))
    with pytest.raises(error) as raised:
        await embedder.embed(["a"])

    assert KEY not in str(raised.value)
    assert len(provider.requests) == 1


async def test_an_account_without_quota_is_for_the_operator(
    provider: Provider, embedder: ProviderEmbedder
) -> None:
    provider.answers.append((429, {"error": {"code": "insufficient_quota"}}))
    with pytest.raises(ConfigError, match="quota"):
        await embedder.embed(["a"])


async def test_a_request_that_fails_for_a_while_is_repeated(provider: Provider) -> None:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    endpoint = ModelEndpoint(name="openai:vectors-1", base_url=provider.url, retries=1)
    provider.answers += [(503, {}), (503, {}), (422, {})]
    embedder = ProviderEmbedder(endpoint, client)
    with pytest.raises(Unavailable):
        await embedder.embed(["a"])
    with pytest.raises(InvalidRequest):
        await embedder.embed(["a"])
    await client.close()

    assert len(provider.requests) == 3


def answer(*embeddings: Any, tokens: int = 1, indices: Sequence[int] = ()) -> dict[str, Any]:
    data = [
        {"index": at, "embedding": it}
        for at, it in zip(indices or range(len(embeddings)), embeddings, strict=True)
    ]
    return {"data": data, "usage": {"prompt_tokens": tokens}}


async def test_vectors_are_in_the_order_of_the_texts(
    provider: Provider, embedder: ProviderEmbedder
) -> None:
    provider.answers.append((200, answer([2.0], [1], indices=[1, 0])))
    provider.answers.append((200, {"data": [{"embedding": [1.5]}, {"embedding": "AAAAQA=="}]}))

    assert await embedder.embed(["a", "b"]) == [[1.0], [2.0]]
    assert await embedder.embed(["a", "b"]) == [[1.5], [2.0]]


async def test_half_a_character_ends_no_request(
    provider: Provider, embedder: ProviderEmbedder
) -> None:
    assert await embedder.embed(["a\ud800"]) == [[2.0, 0.5]]


@pytest.mark.parametrize(
    "found",
    [
        {},
        [],
        answer([1.0]),
        answer([1.0], [2.0], [3.0]),
        answer([1.0], [2.0], indices=[1, 1]),
        answer([1.0], [2.0], indices=[1, 2]),
        answer([1.0], []),
        answer([1.0], ["x"]),
        answer([1.0], "no base64"),
        answer([1.0], "AAA="),
        answer([1.0], "AADAfw=="),
    ],
    ids=[
        "nothing",
        "a list",
        "too few",
        "too many",
        "one twice",
        "beyond the last",
        "an empty vector",
        "a text for a number",
        "a text",
        "half a number",
        "not a number",
    ],
)
async def test_an_answer_that_is_not_one_vector_for_each_text_is_refused(
    provider: Provider, embedder: ProviderEmbedder, found: Any
) -> None:
    provider.answers.append((200, found))
    with pytest.raises(Unavailable, match="cannot be read"):
        await embedder.embed(["a", "b"])


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    gone = ModelEndpoint(name="openai:x", base_url="http://127.0.0.1:1/v1", retries=0)
    with pytest.raises(Unavailable, match="cannot be reached"):
        await ProviderEmbedder(gone, client).embed(["a"])
    await client.close()


async def test_an_address_that_the_guard_refuses_is_a_matter_of_configuration(
    provider: Provider,
) -> None:
    client = GuardedClient()
    endpoint = ModelEndpoint(name="openai:vectors-1", base_url=provider.url)
    with pytest.raises(ConfigError, match="not allowed"):
        await ProviderEmbedder(endpoint, client).embed(["a"])
    await client.close()


def test_a_provider_without_embeddings_is_refused() -> None:
    with pytest.raises(ConfigError, match="openai:name"):
        ProviderEmbedder(ModelEndpoint(name="anthropic:x"), GuardedClient())
