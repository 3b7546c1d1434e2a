"""Where a server has the data, the request that does the same is named."""

import shlex

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
        raise ConfigError("The data directory d is in use by process 7.") from BlockingIOError()


def test_the_request_can_be_typed_as_it_stands() -> None:
    body = '{"answer": "it\'s & it was"}'
    with (
        pytest.raises(ConfigError) as refused,
        http_hint(Settings(), "GET /tools/held?source=a&state=waiting", body),
    ):
        raise ConfigError("The data directory d is in use by process 7.") from BlockingIOError()

    words = shlex.split(refused.value.message.partition("curl ")[2])
    assert words[2].endswith("/tools/held?source=a&state=waiting")
    assert words[-1] == body
