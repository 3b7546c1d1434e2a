"""What a failing context with a server means."""

import pytest

from pegboard.core.ports.http import HttpRequest
from pegboard.errors import InvalidRequest, MCPConnectionError
from pegboard.network import GuardedClient
from pegboard.sources.mcp.transport.http_failures import Endpoint


@pytest.mark.parametrize(
    ("url", "told"),
    [
        pytest.param("http://10.1.2.3/", "{allow_hosts: ['10.1.2.3:80']}.", id="a guarded address"),
        pytest.param("ftp://a.example/", "Check the url.", id="no address"),
    ],
)
async def test_a_request_that_is_not_sent_is_told_with_what_to_do(url: str, told: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await GuardedClient().send(HttpRequest(method="GET", url=url))

    found = Endpoint(name="shop", url=url).unreachable_error(caught.value)

    assert isinstance(found, MCPConnectionError)
    assert str(found).endswith(told)
    assert str(found).count("Check the url") == told.count("Check the url")
