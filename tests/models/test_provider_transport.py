"""Requests of a provider's client through the guarded client."""

import httpx2
import pytest
from tests.models.made import a_provider

from pegboard.models.provider_transport import ProviderTransport
from pegboard.network import GuardedClient, SsrfPolicy


async def test_a_request_passes_the_guard_and_is_answered() -> None:
    guarded = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    async with a_provider() as provider:
        transport = ProviderTransport(guarded, upstream="m")
        async with httpx2.AsyncClient(transport=transport) as client:
            answer = await client.get(f"{provider.url}/models")
    await guarded.close()

    assert answer.json()["data"] == [{"id": "tiny-1"}]


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://169.254.169.254/latest", httpx2.UnsupportedProtocol),
        ("http://127.0.0.1:9/", httpx2.ConnectError),
    ],
    ids=["refused", "nobody there"],
)
async def test_what_cannot_be_sent_is_an_error_of_the_client(
    url: str, error: type[Exception]
) -> None:
    guarded = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    async with httpx2.AsyncClient(transport=ProviderTransport(guarded, upstream="m")) as client:
        with pytest.raises(error):
            await client.get(url)
    await guarded.close()
