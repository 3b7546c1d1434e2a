"""Where a server has the data, the request that does the same is named."""

import pytest

from pegboard.cli.kept import http_hint
from pegboard.errors import ConfigError
from pegboard.runtime import Settings


def test_what_else_is_wrong_is_told_as_it_is() -> None:
    with pytest.raises(ConfigError, match=r"^broken$"), http_hint(Settings(), "GET /audit"):
        raise ConfigError("broken")


def test_the_request_goes_where_the_server_listens() -> None:
    chosen = Settings(host="10.0.0.1", port=99)
    with (
        pytest.raises(ConfigError, match=r"curl -X GET http://10\.0\.0\.1:99/audit$"),
        http_hint(chosen, "GET /audit"),
    ):
        raise ConfigError("The data directory d is in use by process 7.")
