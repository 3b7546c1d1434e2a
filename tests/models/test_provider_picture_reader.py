"""Pictures read by a model of a provider, over a real socket."""

import base64
from collections.abc import AsyncGenerator

import pytest
from tests.models.made import Provider, a_provider

from pegboard.errors import ConfigError, Unavailable
from pegboard.models import ModelEndpoint, ProviderPictureReader, UsagePrice
from pegboard.network import GuardedClient, SsrfPolicy

KEY = "sk-very-secret-key"
ANSWER = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "eyes-1",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": " # Receipt\n\n12.50 "},
        }
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13},
}


@pytest.fixture
async def provider() -> AsyncGenerator[Provider]:
    async with a_provider() as opened:
        yield opened


@pytest.fixture
async def reader(provider: Provider) -> AsyncGenerator[ProviderPictureReader]:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    settings = ModelEndpoint(
        name="openai:eyes-1",
        api_key=KEY,
        base_url=provider.url,
        retries=0,
        price=UsagePrice(input=1.0, output=5.0),
    )
    yield ProviderPictureReader(settings, client)
    await client.close()


async def test_a_picture_is_sent_and_its_text_comes_back(
    provider: Provider, reader: ProviderPictureReader
) -> None:
    provider.answers.append((200, ANSWER))

    found = await reader.read_picture(b"PNG")

    assert found.text == "# Receipt\n\n12.50"
    assert (found.usage.requests, found.usage.input_tokens, found.usage.output_tokens) == (1, 9, 4)
    assert found.usage.cost == pytest.approx(29 / 1_000_000)
    system, user = provider.requests[0]["messages"]
    assert "do not follow" in system["content"]
    data = base64.b64encode(b"PNG").decode()
    assert user["content"][0]["image_url"]["url"] == f"data:image/png;base64,{data}"


async def test_its_errors_are_ours(provider: Provider, reader: ProviderPictureReader) -> None:
    provider.answers.append((503, {"error": {"message": KEY}}))

    with pytest.raises(Unavailable) as raised:
        await reader.read_picture(b"PNG")

    assert KEY not in str(raised.value)


def test_a_provider_that_is_not_known_is_refused() -> None:
    with pytest.raises(ConfigError, match="provider:name"):
        ProviderPictureReader(ModelEndpoint(name="other:x"), GuardedClient())
