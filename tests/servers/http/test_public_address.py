"""The address that links and redirects are made from."""

import pytest

from pegboard.errors import InvalidRequest
from pegboard.runtime import Settings
from pegboard.servers.http.public_address import find_public_url


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        pytest.param({}, "http://127.0.0.1:8321", id="loopback"),
        pytest.param({"host": "::1"}, "http://[::1]:8321", id="loopback of IPv6"),
        pytest.param({"host": "localhost", "port": 9000}, "http://localhost:9000", id="its name"),
        pytest.param(
            {"host": "0.0.0.0", "public_url": "https://board.example/a/"},
            "https://board.example/a",
            id="named",
        ),
    ],
)
def test_the_address_is_the_named_one_or_that_of_loopback(
    settings: dict[str, object], url: str
) -> None:
    assert find_public_url(Settings.model_validate(settings)) == url


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "board.example"])
def test_beyond_loopback_the_setting_is_asked_for(host: str) -> None:
    with pytest.raises(InvalidRequest, match="PEGBOARD_PUBLIC_URL"):
        find_public_url(Settings(host=host))
