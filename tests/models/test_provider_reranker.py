"""Rerankers of providers, over a real socket; the server rates texts by the words they share."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from tests.models.made import Provider, a_provider

from pegboard.core.tool import Limits
from pegboard.errors import ConfigError, InvalidRequest, PegboardError, RateLimited, Unavailable
from pegboard.execution.limits.limiters import Limiter
from pegboard.models import ModelEndpoint, ProviderReranker, UsagePrice
from pegboard.network import GuardedClient, SsrfPolicy

KEY = "sk-very-secret-key"
TEXTS = ["Trips by train.", "Paid leave of thirty days.", "Leave the train."]


@pytest.fixture
async def provider() -> AsyncGenerator[Provider]:
    async with a_provider() as opened:
        yield opened


@pytest.fixture
async def client() -> AsyncGenerator[GuardedClient]:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    yield client
    await client.close()


def make(provider: Provider, client: GuardedClient, name: str = "openai:tiny", **more: Any) -> Any:
    settings = ModelEndpoint(name=name, api_key=KEY, base_url=provider.url)
    return ProviderReranker(settings, client, **more)


@pytest.mark.parametrize("name", ["openai:tiny", "cohere:tiny", "jina:tiny"])
async def test_each_text_has_its_number_whatever_the_order_of_the_answer(
    provider: Provider, client: GuardedClient, name: str
) -> None:
    found = await make(provider, client, name).rerank("days of paid leave", TEXTS)

    assert list(found.scores) == [0.0, 1.0, 0.25]
    assert (found.usage.requests, found.usage.input_tokens) == (1, 11)
    assert provider.requests == [
        {"query": "days of paid leave", "model": "tiny", "documents": TEXTS, "top_n": 3}
    ]
    assert provider.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_tei_is_asked_in_its_own_way(provider: Provider, client: GuardedClient) -> None:
    found = await make(provider, client, "tei:tiny").rerank("days of paid leave", TEXTS)

    assert list(found.scores) == [0.0, 1.0, 0.25]
    assert provider.requests == [{"query": "days of paid leave", "texts": TEXTS, "truncate": True}]


async def test_no_texts_need_no_request(provider: Provider, client: GuardedClient) -> None:
    assert list((await make(provider, client).rerank("x", [])).scores) == []
    assert provider.requests == []


async def test_half_a_character_ends_no_request(provider: Provider, client: GuardedClient) -> None:
    found = await make(provider, client).rerank("days \ud800", ["days \udc00", "x"])

    assert list(found.scores) == [1.0, 0.0]


@pytest.mark.parametrize("usage", [None, {}, {"total_tokens": None}, {"total_tokens": -5}])
async def test_a_server_that_does_not_say_what_it_has_used_is_fine(
    provider: Provider, client: GuardedClient, usage: Any
) -> None:
    provider.answers.append((200, results((0, 1.0), (1, 2.0), (2, 3.0)) | {"usage": usage}))
    found = await make(provider, client).rerank("x", TEXTS)

    assert (found.usage.requests, found.usage.input_tokens) == (1, 0)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, ConfigError),
        (404, ConfigError),
        (422, InvalidRequest),
        (429, Unavailable),
        (503, Unavailable),
    ],
)
async def test_its_errors_are_ours_and_say_nothing_of_the_provider(
    provider: Provider, client: GuardedClient, status: int, error: type[PegboardError]
) -> None:
    provider.answers.append((status, {"message": KEY}))
    with pytest.raises(error) as raised:
        await make(provider, client).rerank("x", TEXTS)

    assert KEY not in str(raised.value)


async def test_a_redirect_is_not_followed(provider: Provider, client: GuardedClient) -> None:
    provider.redirect = f"{provider.url}/elsewhere"
    with pytest.raises(ConfigError, match="redirects"):
        await make(provider, client).rerank("x", TEXTS)

    assert len(provider.requests) == 1


def results(*pairs: tuple[int, Any]) -> dict[str, Any]:
    return {"results": [{"index": index, "relevance_score": score} for index, score in pairs]}


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        "no",
        results((0, 1.0), (1, 2.0)),
        results((0, 1.0), (1, 2.0), (1, 3.0)),
        results((0, 1.0), (1, 2.0), (3, 3.0)),
        results((0, 1.0), (1, 2.0), (-1, 3.0)),
        results((0, 1.0), (1, 2.0), (2, None)),
        results((0, 1.0), (1, 2.0), (2, "3")),
        [{"index": 0}, {"index": 1}, {"index": 2}],
    ],
    ids=[
        "nothing",
        "an empty list",
        "a text",
        "too few",
        "one twice",
        "beyond the last",
        "before the first",
        "no number",
        "a text for a number",
        "no scores",
    ],
)
async def test_an_answer_that_is_not_one_number_for_each_text_is_refused(
    provider: Provider, client: GuardedClient, answer: Any
) -> None:
    provider.answers.append((200, answer))
    with pytest.raises(Unavailable, match="cannot be read"):
        await make(provider, client).rerank("x", TEXTS)


async def test_requests_wait_for_their_turn_only_so_long(
    provider: Provider, client: GuardedClient
) -> None:
    limiter = Limiter("model tiny", Limits(rate=1, per=3600.0))
    reranker = make(provider, client, requests=limiter)
    await reranker.rerank("x", TEXTS)
    with pytest.raises(RateLimited):
        await reranker.rerank("x", TEXTS)

    assert len(provider.requests) == 1


async def test_an_address_that_the_guard_refuses_is_told_as_such(provider: Provider) -> None:
    client = GuardedClient()
    with pytest.raises(ConfigError, match="not allowed"):
        await make(provider, client).rerank("x", TEXTS)
    await client.close()


@pytest.mark.parametrize(
    ("name", "message"),
    [("anthropic:x", "provider:name"), ("cohere", "provider:name"), ("tei:x", "base_url")],
)
def test_a_reranker_that_cannot_be_reached_is_refused(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ProviderReranker(ModelEndpoint(name=name), GuardedClient())


@pytest.mark.parametrize(
    ("price", "more", "cost"),
    [
        (UsagePrice(input=0.5), {"usage": {"total_tokens": 400}}, 0.0002),
        (UsagePrice(request=0.002), {"meta": {"billed_units": {"search_units": 3}}}, 0.006),
        (UsagePrice(request=0.002), {}, 0.002),
        (UsagePrice(input=0.5), {"meta": {"billed_units": None}}, None),
        (None, {"usage": {"total_tokens": 400}}, None),
    ],
    ids=["tokens", "searches", "one search", "unknown tokens", "unknown price"],
)
async def test_its_cost_is_known_where_its_price_is(
    provider: Provider,
    client: GuardedClient,
    price: UsagePrice | None,
    more: dict[str, Any],
    cost: float | None,
) -> None:
    provider.answers.append((200, {"results": [{"index": 0, "relevance_score": 0.5}], **more}))
    settings = ModelEndpoint(name="cohere:tiny", base_url=provider.url, price=price)

    found = await ProviderReranker(settings, client).rerank("days of leave", TEXTS[:1])

    assert found.usage.cost == (None if cost is None else pytest.approx(cost))
